"""Timers of a rank: when one expires, the kernel makes the process dump its stacks, or kills it, whatever it is doing.

POSIX timers do not interfere with the script, which may use ``faulthandler.dump_traceback_later``, ``SIGALRM`` and
``SIGUSR1`` itself.  On systems without them, such as macOS, ``faulthandler``'s only timer dumps the stacks.
"""

import ctypes
import faulthandler
import signal
import time
from typing import TextIO

LATER = 0.2  # seconds by which the second timer follows the first
# A real-time signal, but not the first or last, which have names and are therefore used by programs.
STACK_SIGNAL = signal.SIGRTMAX - 1 if hasattr(signal, "SIGRTMAX") else signal.SIGUSR1

_timers: dict[int, ctypes.c_void_p] = {}  # signal -> the timer that sends it
_stack: TextIO | None = None


class _Event(ctypes.Structure):  # struct sigevent, see sigevent(3type)
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),  # 0 is SIGEV_SIGNAL
        ("rest", ctypes.c_char * 48),
    )


class _Setting(ctypes.Structure):  # struct itimerspec
    _fields_ = tuple((name, ctypes.c_long) for name in ("every_s", "every_ns", "value_s", "value_ns"))


def write_stacks_to(file: TextIO) -> None:
    """Make ``STACK_SIGNAL`` dump the stacks of all threads of this process to ``file``."""
    global _stack
    _stack = file
    faulthandler.register(STACK_SIGNAL, file=file, all_threads=True)


def stacks_after(seconds: float) -> None:
    """Dump the stacks after ``seconds``.  A later call resets the timer."""
    if not _signal_after(STACK_SIGNAL, seconds):
        faulthandler.dump_traceback_later(seconds, exit=False, file=_stack)


def end_after(seconds: float) -> None:
    """Send this process SIGKILL after ``seconds``.  A later call resets the timer."""
    # This timer survives exec, unlike the one below, but a rank may ignore its signal.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + LATER)
    _signal_after(signal.SIGKILL, seconds)


def _signal_after(number: int, seconds: float) -> bool:
    """Make the kernel send this process a signal after ``seconds``.  Returns False if POSIX timers are unavailable."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "timer_create"):
        return False
    if number not in _timers:
        timer = ctypes.c_void_p()
        event = _Event(signal=number)
        _succeed(libc.timer_create(time.CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer)))
        _timers[number] = timer
    setting = _Setting(value_s=int(seconds), value_ns=int(seconds % 1 * 1e9))
    _succeed(libc.timer_settime(_timers[number], 0, ctypes.byref(setting), None))
    return True


def _succeed(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, "the deadline cannot be set")
