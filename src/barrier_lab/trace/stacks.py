"""Parse the thread stacks of a rank, as dumped by faulthandler."""

import os
import re
from collections.abc import Sequence

from barrier_lab.frames import is_own_among
from barrier_lab.trace.model import Place

_THREAD = re.compile(r"^(?:Current thread|Thread) 0x(?P<ident>[0-9a-f]+).*\n", flags=re.MULTILINE)
_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$')
# The second is its path in an older version.
_MAIN = (f"barrier_lab{os.sep}rank{os.sep}main.py", f"barrier_lab{os.sep}rank.py")
MOST_FRAMES = 100  # of a thread; faulthandler leaves out those further out
_MAKES_GROUP = {"init_process_group", "new_group", "new_subgroups", "new_subgroups_by_enumeration", "split_group"}


def thread_frames(text: str) -> dict[int, list[Place]]:
    """The frames of each thread, innermost first, by thread identifier.  The main thread comes last."""
    pieces = _THREAD.split(text)
    return {int(ident, 16): _frames(body) for ident, body in zip(pieces[1::2], pieces[2::2], strict=True)}


def stack_frames(text: str) -> list[Place]:
    """The frames of the main thread, innermost first; empty if there is no stack."""
    threads = thread_frames(text)
    return next(reversed(threads.values())) if threads else []


def _frames(text: str) -> list[Place]:
    found = (_FRAME.match(line) for line in text.splitlines())
    return [Place(m["file"], int(m["line"]), m["function"]) for m in found if m]


def makes_group(frame: Place) -> bool:
    """Whether a frame is a torch function that creates a group, in which ranks wait for each other at the store."""
    return frame.function in _MAKES_GROUP and f"{os.sep}torch{os.sep}distributed{os.sep}" in frame.file


def inside_torch_distributed(frames: list[Place]) -> bool:
    """Whether the innermost function outside the standard library is one of ``torch.distributed``."""
    inner = next(
        (frame.file for frame in frames if f"{os.sep}lib{os.sep}python" not in frame.file or "-packages" in frame.file),
        "",
    )
    return f"{os.sep}torch{os.sep}distributed{os.sep}" in inner


def calls_worker(frame: Place) -> bool:
    """Whether a frame is the launcher's frame that calls the worker, and is innermost once the worker has returned."""
    return frame.function == "run_worker" and frame.file.endswith(_MAIN)


def own_frames(frames: list[Place], script: str | None, installed: Sequence[str]) -> list[Place]:
    """The user-code frames, innermost first, up to the launcher's frame."""
    written = (script or "").encode("ascii", "backslashreplace").decode()  # as faulthandler escapes file names
    found = []
    for frame in frames:
        if calls_worker(frame):
            break
        if frame.file == written:
            found.append(Place(script or "", frame.line, frame.function))
        elif is_own_among(frame.file, installed):
            found.append(frame)
    return found
