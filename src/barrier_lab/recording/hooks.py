"""Record each collective, message, wait and sleep of this rank exactly once, without changing its behaviour.

Collectives and messages are hooked at torch's dispatcher (``dispatcher``); waits, sleeps (``waits``) and group
creation (``groups``) in Python.  A collective called with ``async_op=False`` is one blocking interval, which ends when
Python's wait for its Work returns.  Any other is in flight until its future is done, and waiting for its handle is a
separate interval.

With NCCL, a future is done once the operation is queued on its stream, and a blocking call returns then too, except
barrier.  The intervals therefore show how long the CPU is busy, not the GPU.
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
_libraries: list[torch.library.Library] = []  # the dispatcher drops a hook when its library is destroyed
_sleep = time.sleep


def install(recorder: Recorder, script: str | Path) -> bool:
    """Install the hooks, inactive until ``start``.  Call before the script is imported, since it may bind names.

    The hooks rely on private interfaces of torch.  If they do not match, a warning is printed, only sleeps are
    recorded, and False is returned.
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
    except Exception as error:  # a changed private interface may raise anything
        for step in undo:
            step()
        message = f"collectives are not recorded, since torch {torch.__version__} does not fit: {describe(error)}"
        sys.stderr.write(f"barrier_lab: {message}\n")
        recorder.mark("hooks", "meta", error=message)
        return False
    atexit.register(_let_operations_end, _watch, os.getpid())
    return True


def start() -> None:
    """Start recording.  Earlier calls are not counted either."""
    _watch.on = True


def stop() -> None:
    """Stop recording new calls.  The ends of calls in flight are still recorded."""
    _watch.on = False


def _let_operations_end(watch: Watch, process: int) -> None:
    """At exit, wait for calls in flight, as destroying their group would do a moment later.

    That would be too late for the callback: a foreign thread that requests the GIL of a finalizing interpreter is
    terminated, and the C++ code that called it aborts the process.
    """
    while watch.in_flight and watch.groups and os.getpid() == process:  # a forked child has no backend thread
        _sleep(0.002)
