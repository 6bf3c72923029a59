"""The clocks of a rank: when they run out, the kernel itself makes it write its stacks, or ends it, whatever it does.

They are POSIX timers, which a script cannot meet by chance: its own ``faulthandler.dump_traceback_later``, ``SIGALRM``
and ``SIGUSR1`` are its own.  Where a system has none, as macOS, ``faulthandler``'s one timer writes the stacks.
"""

import ctypes
import faulthandler
import signal
import time
from typing import TextIO

LATER = 0.2  # seconds by which the second clock follows the first
# A real-time signal, but neither the first nor the last, which have names and which programs therefore use.
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
    """From now on ``STACK_SIGNAL`` makes this process write the stacks of all its threads to ``file``."""
    global _stack
    _stack = file
    faulthandler.register(STACK_SIGNAL, file=file, all_threads=True)


def stacks_after(seconds: float) -> None:
    """Write the stacks in so many seconds; a later call sets the clock anew."""
    if not _signal_after(STACK_SIGNAL, seconds):
        faulthandler.dump_traceback_later(seconds, exit=False, file=_stack)


def end_after(seconds: float) -> None:
    """Send this process SIGKILL in so many seconds; a later call sets the clock anew."""
    # This clock outlasts exec, as that below does not, but a rank may ignore its signal.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + LATER)
    _signal_after(signal.SIGKILL, seconds)


def _signal_after(number: int, seconds: float) -> bool:
    """Have the kernel send this process a signal.  False where a system has no such timers."""
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
