"""Record how the process of a traced rank ended: its exit code, or the exception that ended it."""

import atexit
import functools
import multiprocessing.util
import os
import sys
import threading
from pathlib import Path
from typing import Any

from barrier_lab.rank import ending
from barrier_lab.recording.callsite import callsite


def watch(recorder: Any, script: Path) -> None:
    """Record the end of this process, however it is reached, except by ``os._exit`` or a signal."""
    end = _End(recorder, script)
    report, leave = sys.excepthook, sys.exit

    @functools.wraps(report)
    def excepthook(kind: type, error: BaseException, trace: Any) -> None:
        end.by(error)
        report(kind, error, trace)

    @functools.wraps(leave)
    def sys_exit(status: object = None, /) -> None:
        end.asked(status)
        leave(status)

    sys.excepthook, sys.exit = excepthook, sys_exit
    atexit.register(end.mark)
    multiprocessing.util.Finalize(None, end.mark, exitpriority=100)  # its children run no atexit functions


class _End:
    """The end of the process, recorded once."""

    def __init__(self, recorder: Any, script: Path) -> None:
        self._recorder, self._script, self._process = recorder, script, os.getpid()
        self._code: int | None = None
        self._over = self._marked = False

    def by(self, error: BaseException | None) -> None:
        """The program is over; ``error`` ended it."""
        if self._over or os.getpid() != self._process:
            return
        self._over = True
        if error is not None:
            self._code = 1
            ending.record_error(self._recorder, self._script, error)
        self._recorder.mark("end", "meta")

    def asked(self, status: object) -> None:
        """``sys.exit`` was called: with a failure inside an ``except``, that exception is what ended the program."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._code = status if isinstance(status, int) else int(status is not None)
        handled = sys.exc_info()[1]
        if self._code and handled is not None and not isinstance(handled, SystemExit):
            self.by(handled)
        elif place := callsite(sys._getframe(2)).place:
            self._recorder.mark("leave", "leave", **dict(zip(("file", "line", "function"), place, strict=True)))

    def mark(self) -> None:
        """The process exits."""
        if self._marked or os.getpid() != self._process:
            return
        self._marked = True
        propagating = sys.exc_info()[1]  # in a child of multiprocessing
        self.by(None if isinstance(propagating, SystemExit) else propagating)
        self._recorder.mark("exit", "meta", code=self._code)
