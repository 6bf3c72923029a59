"""Where a rank stood: read from the stack that faulthandler wrote."""

import os
import re

from barrier_lab.records import Place

_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$')


def stack_frames(text: str) -> list[Place]:
    """The frames of the main thread in faulthandler's text, innermost first."""
    threads = re.split(r"^(?:Current thread|Thread) .*\n", text, flags=re.MULTILINE)
    last = threads[-1] if len(threads) > 1 else ""  # faulthandler writes the main thread last
    found = (_FRAME.match(line) for line in last.splitlines())
    return [Place(m["file"], int(m["line"]), m["function"]) for m in found if m]


_MAKES_GROUP = {"init_process_group", "new_group", "new_subgroups", "new_subgroups_by_enumeration", "split_group"}


def makes_group(frame: Place) -> bool:
    """A call in which ranks wait for each other at the store, where no collective is recorded."""
    return frame.function in _MAKES_GROUP and f"{os.sep}torch{os.sep}distributed{os.sep}" in frame.file


def calls_worker(frame: Place) -> bool:
    """The lab's own frame below every worker: it is the innermost when the worker has returned."""
    return frame.function == "run_worker" and frame.file.endswith(f"barrier_lab{os.sep}rank.py")


def stuck_at(frames: list[Place], script: str | None) -> Place | None:
    """The innermost frame of the experiment's own file, else the innermost outside installed packages."""
    written = (script or "").encode("ascii", "backslashreplace").decode()  # as faulthandler writes a name
    for frame in frames:
        if frame.file == written:
            return Place(script, frame.line, frame.function)
    installed = ("<frozen", "<string>", "site-packages", "barrier_lab", f"{os.sep}lib{os.sep}python3")
    return next((frame for frame in frames if not any(part in frame.file for part in installed)), None)
