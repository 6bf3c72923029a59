"""The deadline of a rank that no runner watches: the kernel itself ends the rank, whatever it does or ignores.

Processes that the rank has started are not ended with it.
"""

import ctypes
import signal
import time

LATER = 0.2  # seconds by which the second clock follows the first

_timer: ctypes.c_void_p | None = None


class _Event(ctypes.Structure):  # struct sigevent, see sigevent(3type)
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),  # 0 is SIGEV_SIGNAL
        ("rest", ctypes.c_char * 48),
    )


class _Setting(ctypes.Structure):  # struct itimerspec
    _fields_ = tuple((name, ctypes.c_long) for name in ("every_s", "every_ns", "value_s", "value_ns"))


def end_after(seconds: float) -> None:
    """Send this process SIGKILL in so many seconds; a later call sets the clock anew."""
    global _timer
    # This clock outlasts exec, as that below does not, but a rank may ignore its signal.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds + LATER)
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "timer_create"):  # as on macOS
        return
    if _timer is None:
        timer = ctypes.c_void_p()
        event = _Event(signal=signal.SIGKILL)
        _succeed(libc.timer_create(time.CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(timer)))
        _timer = timer
    setting = _Setting(value_s=int(seconds), value_ns=int(seconds % 1 * 1e9))
    _succeed(libc.timer_settime(_timer, 0, ctypes.byref(setting), None))


def _succeed(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, "the deadline cannot be set")
