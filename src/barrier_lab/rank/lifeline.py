"""Tie the lifetime of a rank to its runner, and that of the rank's children to the rank.

The runner holds the only write end of a pipe, the rank the read end.  When the write end closes, the kernel sends
SIGKILL to the rank's process group.  This needs no thread in the rank, so it works even if the rank blocks in C++,
holds the GIL, or ignores signals.  The rank leads its own session, so its children die with it.  A child that starts
another session escapes.

Under torchrun, the agent is the runner.  It holds no such pipe, so the kernel is asked to kill a rank when its parent
dies, and a small process (``guard``) kills the process group of a rank that has ended.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

try:
    from fcntl import F_SETSIG
except ImportError:  # outside Linux
    F_SETSIG = None
KERNEL_KILLS = F_SETSIG is not None  # closing the pipe also kills the children of a rank that has ended

_at_import = os.getpid(), os.getppid()  # long before ``die_with_parent`` if torch is imported in between


def hold_on(descriptor: int) -> None:
    """Start a new session, and be killed as soon as the other end of this pipe closes."""
    os.setsid()
    if not KERNEL_KILLS:
        threading.Thread(target=_watch, args=(descriptor,), daemon=True).start()
        return
    import fcntl

    fcntl.fcntl(descriptor, F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(descriptor, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(descriptor, fcntl.F_SETFL, fcntl.fcntl(descriptor, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
    # The runner may have ended before the signal was armed.
    if select.select([descriptor], [], [], 0)[0]:
        _end()


def _watch(descriptor: int) -> None:
    select.select([descriptor], [], [])
    _end()


def _end() -> None:
    os.killpg(os.getpgrp(), signal.SIGKILL)


def die_with_parent() -> None:
    """Under torchrun: be killed when the agent dies.  Linux only; elsewhere this does nothing."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if _parent_is_gone():
        os.kill(os.getpid(), signal.SIGKILL)


def _parent_is_gone() -> bool:
    """Whether the agent has certainly died: this process was adopted by an init process, which is not Python."""
    parent = os.getppid()
    if _at_import[0] == os.getpid() and _at_import[1] != parent:
        return True
    program = _program(parent)
    return program is not None and "python" not in program and program != _program(os.getpid())


def _program(pid: int) -> str | None:
    """The name of the program that a process runs; None if uncertain."""
    with contextlib.suppress(OSError):
        return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
    # For another user's process only the command line is readable, and it may contain anything.
    if pid != 1:
        return None
    with contextlib.suppress(OSError):
        return os.path.basename(Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0]) or None
    return None


def end_children_after_me(folder: str = "") -> None:
    """Start a process that waits for this one to end, then kills the rest of its group and removes a folder.

    It has its own session and waits on a pidfd, so neither a signal to the group nor exec stops it.
    """
    if os.getpgrp() != os.getpid() or not KERNEL_KILLS or not sys.executable:
        return  # not our own group: it contains other processes than our children
    with contextlib.suppress(OSError):
        mine = os.pidfd_open(os.getpid())
        program = [sys.executable, "-I", "-S", Path(__file__).with_name("guard.py")]
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        arguments = [str(mine), str(os.getpgrp()), folder]
        subprocess.run([*program, *arguments], pass_fds=[mine], start_new_session=True, check=False, **quiet)
        os.close(mine)
