"""Find the line of user code that made a call, its callers, and the library function in between."""

import functools
import sys
import threading
from types import FrameType
from typing import NamedTuple

from barrier_lab.frames import PACKAGE, is_own
from barrier_lab.recording.recorder import SourceLine

MOST = 30  # frames kept per call
_FLOOR = ("run_worker", f"{PACKAGE}/rank/main.py")  # the frames outside it are the launcher's
# Code that only forwards calls, and so does not identify the caller: single files, and all of the compiler.
_PASS_ON = (
    "/torch/nn/modules/module.py",
    "/torch/_ops.py",
    "/contextlib.py",
    "/_contextlib.py",
    "/c10d_logger.py",
    "/functools.py",
    "/typing_extensions.py",
    "/barrier_lab/tracing/rank.py",
)
_COMPILER = ("/torch/_dynamo/", "/torch/_library/", "/torch/_functorch/", "/torch/_inductor/", "/torch/fx/")
_C10D = "/torch/distributed/distributed_c10d.py"


class Callsite(NamedTuple):
    """The user-code frames that led to a call, innermost first, and the library function that they called."""

    frames: tuple[SourceLine, ...]
    via: str | None  # "DistributedDataParallel.forward"; None if user code called torch.distributed directly

    @property
    def place(self) -> SourceLine | None:
        """The innermost line of user code."""
        return self.frames[0] if self.frames else None


def callsite(frame: FrameType | None) -> Callsite:
    """The call site of ``frame``.  In a thread without user code (autograd's), that of the main thread."""
    found = _walk(frame)
    return found if found.frames else _walk(sys._current_frames().get(threading.main_thread().ident))


def _walk(frame: FrameType | None) -> Callsite:
    found: list[SourceLine] = []
    inner: FrameType | None = None
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        if is_own(file):
            if len(found) < MOST:
                found.append((file, frame.f_lineno, code.co_name))
        elif code.co_name == _FLOOR[0] and file == _FLOOR[1]:
            break
        elif not found and not _passes_on(file):
            inner = frame
        frame = frame.f_back
    return Callsite(tuple(found), None if inner is None else _name(inner))


@functools.lru_cache(maxsize=10_000)
def _passes_on(file: str) -> bool:
    return file.startswith("<") or file.endswith(_PASS_ON) or any(part in file for part in _COMPILER)


def _name(frame: FrameType) -> str:
    """The qualified name of a library function; the plain name for those of ``torch.distributed``."""
    code = frame.f_code
    if code.co_filename.endswith(_C10D):
        return code.co_name
    qualified = getattr(code, "co_qualname", code.co_name)
    return qualified.replace(".<locals>", "").replace(".<genexpr>", "")


def exception_place(error: BaseException) -> SourceLine | None:
    """The innermost line of user code in an exception's traceback."""
    place, trace = None, error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if is_own(code.co_filename):
            place = code.co_filename, trace.tb_lineno, code.co_name
        trace = trace.tb_next
    return place
