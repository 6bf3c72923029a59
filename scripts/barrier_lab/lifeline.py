"""Tie a rank's life to its runner's: when the runner goes, in whatever way, the rank goes too.

The runner holds the only writing end of a pipe, the rank its reading end.  When the writing end closes,
the kernel itself sends SIGKILL to the rank's process group: this needs no thread of the rank, so it
works against a rank that blocks in C++, holds the interpreter lock, or ignores signals.  The rank leads
a session of its own, so its children die with it.  A child that makes another session escapes.
"""

import os
import select
import signal
import sys
import threading


def hold_on(descriptor: int) -> None:
    """Lead a new session, and be killed as soon as the other end of this pipe closes."""
    os.setsid()
    try:
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
    except (ImportError, AttributeError):  # no F_SETSIG outside Linux
        threading.Thread(target=_watch, args=(descriptor,), daemon=True).start()
        return
    # The runner may have gone before the signal was armed.
    if select.select([descriptor], [], [], 0)[0]:
        _end()


def _watch(descriptor: int) -> None:
    select.select([descriptor], [], [])
    _end()


def _end() -> None:
    os.killpg(os.getpgrp(), signal.SIGKILL)


def die_with_parent() -> None:
    """Under torchrun: be killed when the agent dies.  Linux only; elsewhere torchrun's own rules hold."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if not _is_python(os.getppid()):  # the agent, a Python process, had gone before; an init process adopted us
        os.kill(os.getpid(), signal.SIGKILL)


def _is_python(pid: int) -> bool:
    try:
        return "python" in os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    except OSError:
        return False
