"""Dump the stacks of a rank that has made no progress for a while.  The rank is not stopped."""

import faulthandler
import os
import threading
import time
from pathlib import Path
from typing import Any


def watch(recorder: Any, path: Path, seconds: float) -> None:
    """Start the thread that watches the rank.  It sleeps most of the time and costs nothing."""
    arguments = (recorder, path, seconds, os.getpid())
    threading.Thread(target=_look, args=arguments, name="barrier_lab", daemon=True).start()


def _look(recorder: Any, path: Path, seconds: float, process: int) -> None:
    wait = threading.Event().wait  # not time.sleep, which the recorder replaces
    written_for = None
    while os.getpid() == process:
        last, idle = recorder.last_ns, (time.monotonic_ns() - recorder.last_ns) / 1e9
        if idle < seconds:
            wait(max(seconds - idle, 0.01))
            continue
        _write_stacks(path)
        if written_for != last:
            recorder.mark("stalled", "stall", seconds=idle)
        written_for = last
        wait(seconds)


def _write_stacks(path: Path) -> None:
    """Replace the stack file atomically."""
    fresh = path.with_suffix(".stack.new")
    with fresh.open("w") as file:
        faulthandler.dump_traceback(file=file, all_threads=True)
    fresh.replace(path)
