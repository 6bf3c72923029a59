"""See each collective, message, wait and sleep of this rank, once, and without changing what it does.

Collectives and messages are seen at torch's dispatcher (``dispatcher``), waits and sleeps in Python (``waits``), and
so is the making of groups (``groups``).  A collective called with ``async_op=False`` is one blocking interval, which
ends when Python's wait for its work returns.  Any other is in flight until its future is done, and the wait for its
handle is an interval of its own.

On NCCL a future is done when the operation is queued on its stream, and a blocking call returns then too, except
barrier: that is how long the CPU is busy, not how long the GPU is.
"""

import atexit
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from barrier_lab.frames import installed_folders
from barrier_lab.recording.recorder import Recorder, describe
from barrier_lab.recording.waits import wrap_sleep, wrap_thread_errors, wrap_work
from barrier_lab.recording.watch import Watch

_watch: Watch | None = None
_libraries: list[torch.library.Library] = []  # the dispatcher forgets a hook when its library goes
_sleep = time.sleep


def install(recorder: Recorder, script: str | Path) -> bool:
    """Put the hooks in, silent until ``start``; before the experiment's module is imported, since it may bind names.

    They are half private to torch.  If this torch does not fit, one warning says so, the experiment runs with only its
    sleeps recorded, and the answer is False.
    """
    global _watch
    _watch = Watch(recorder)
    recorder.mark("installed", "installed", folders=installed_folders())
    wrap_thread_errors(_watch)
    wrap_sleep(_watch, str(script))
    undo: list[Callable[[], None]] = []
    try:
        from barrier_lab.recording.dispatcher import hook_all
        from barrier_lab.recording.groups import wrap_groups

        undo.append(wrap_work(_watch))
        undo.append(wrap_groups(_watch))
        _libraries.extend(hook_all(_watch))
    except Exception as error:  # whatever a changed private interface raises
        for step in undo:
            step()
        message = f"collectives are not recorded, since torch {torch.__version__} does not fit: {describe(error)}"
        sys.stderr.write(f"barrier_lab: {message}\n")
        recorder.mark("hooks", "meta", error=message)
        return False
    atexit.register(_let_operations_end, _watch, os.getpid())
    return True


def start() -> None:
    """Record from now on.  What was called before is not counted either."""
    _watch.on = True


def stop() -> None:
    """Record no new call from now on; those in flight may still end."""
    _watch.on = False


def _let_operations_end(watch: Watch, process: int) -> None:
    """Wait for what is in flight when Python exits, as destroying its group would do a moment later.

    By then it would be too late for our callback: a foreign thread that asks a dying interpreter for its lock is ended,
    and the C++ above it aborts the process.
    """
    while watch.in_flight and watch.groups and os.getpid() == process:  # a forked child has no backend thread
        _sleep(0.002)
