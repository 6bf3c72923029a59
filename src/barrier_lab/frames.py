"""Whose code a frame is: the one rule by which recorder, reader and tracebacks find the reader's own lines.

A file is the reader's unless it lies in a folder of installed code: Python's library, site-packages, torch, this
package.  The recorder asks on the machine of the run and writes the folders into the trace, so that the reading side
can ask again, anywhere.
"""

import functools
import os
import re
import site
import sys
import sysconfig
from collections.abc import Sequence

PACKAGE = os.path.dirname(os.path.realpath(__file__))
_GENERATED = ("<", "torchinductor", "torch_compile_debug")
# Where the trace does not name the folders, as one of an older recorder.
_USUAL = re.compile(r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib[/\\]python3|[/\\]barrier_lab[/\\](?:\w+[/\\])?\w+\.py$")


@functools.lru_cache(maxsize=1)
def installed_folders() -> tuple[str, ...]:
    """The folders of installed code on this machine, each with its closing separator."""
    paths = sysconfig.get_paths()
    folders = {paths[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages(), PACKAGE}
    torch = sys.modules.get("torch")
    if torch is not None:
        folders.add(os.path.dirname(torch.__file__))
    both = {folder for each in folders for folder in (each, os.path.realpath(each))}
    return tuple(sorted(os.path.join(folder, "") for folder in both))


@functools.lru_cache(maxsize=10_000)
def is_own(file: str) -> bool:
    """Whether a file of this process is the reader's."""
    return is_own_among(os.path.realpath(file) if not file.startswith("<") else file, installed_folders())


def is_own_among(file: str, installed: Sequence[str]) -> bool:
    """Whether a file is the reader's, if these folders hold the installed code; none: by the usual names."""
    if file.startswith(_GENERATED[0]) or any(part in file for part in _GENERATED[1:]):
        return False
    return not file.startswith(tuple(installed)) if installed else not _USUAL.search(file)


def owner(file: str) -> str | None:
    """Whose code a file is if it is not the reader's: an installed package ("torch"), this one, or Python itself."""
    if found := re.search(r"[/\\](?:site|dist)-packages[/\\](\w+)", file):
        return found[1]
    if file.startswith(os.path.join(PACKAGE, "")):
        return "barrier_lab"
    return None if is_own(file) else "Python"
