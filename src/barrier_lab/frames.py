"""Tell user code from library code: one rule for recorder, trace reader and tracebacks.

A file is user code unless it is in a directory of installed code: the standard library, site-packages, torch or this
package.  The recorder applies the rule on the machine of the run and writes the directories into the trace, so that
the trace can be read on any machine.
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
# For traces that do not name the directories, as those of older recorders.
_USUAL = re.compile(r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib[/\\]python3|[/\\]barrier_lab[/\\](?:\w+[/\\])?\w+\.py$")


@functools.lru_cache(maxsize=1)
def installed_folders() -> tuple[str, ...]:
    """The directories of installed code on this machine, each with a trailing separator."""
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
    """Whether ``file`` is user code in this process."""
    return is_own_among(os.path.realpath(file) if not file.startswith("<") else file, installed_folders())


def is_own_among(file: str, installed: Sequence[str]) -> bool:
    """Whether ``file`` is user code, given the directories of installed code (if empty: by the usual names)."""
    if file.startswith(_GENERATED[0]) or any(part in file for part in _GENERATED[1:]):
        return False
    return not file.startswith(tuple(installed)) if installed else not _USUAL.search(file)


def owner(file: str) -> str | None:
    """The owner of library code: an installed package ("torch"), "barrier_lab" or "Python"; None for user code."""
    if found := re.search(r"[/\\](?:site|dist)-packages[/\\](\w+)", file):
        return found[1]
    if file.startswith(os.path.join(PACKAGE, "")):
        return "barrier_lab"
    return None if is_own(file) else "Python"
