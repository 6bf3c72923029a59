"""Where in the reader's own code a call comes from: the first frame outside torch, this package and installed code."""

import functools
import os
import site
import sys
import sysconfig
import threading
from types import FrameType

from barrier_lab.recording.recorder import Place


def caller(frame: FrameType | None) -> Place | None:
    """The reader's line that led to ``frame``; in a thread that has none (autograd's), the main thread's."""
    return _own_place(frame) or _own_place(sys._current_frames().get(threading.main_thread().ident))


def _own_place(frame: FrameType | None) -> Place | None:
    while frame is not None:
        code = frame.f_code
        if is_own(code.co_filename):
            return code.co_filename, frame.f_lineno, code.co_name
        frame = frame.f_back
    return None


@functools.lru_cache(maxsize=10_000)
def is_own(filename: str) -> bool:
    """Whether a file is the reader's: not generated, not installed, not part of Python, torch or this package."""
    if filename.startswith("<") or "torchinductor" in filename or "torch_compile_debug" in filename:
        return False
    return not os.path.realpath(filename).startswith(_installed())


@functools.lru_cache(maxsize=1)
def _installed() -> tuple[str, ...]:
    """The folders of code that is not the reader's, each with its closing separator."""
    paths = sysconfig.get_paths()
    folders = {paths[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages(), os.path.dirname(os.path.dirname(__file__))}
    torch = sys.modules.get("torch")
    if torch is not None:
        folders.add(os.path.dirname(torch.__file__))
    return tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)
