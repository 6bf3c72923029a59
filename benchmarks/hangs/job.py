"""A program under a launcher, in a session of its own, so that nothing of it is left behind."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.hangs.cases import HERE, Case, ranks

ROOT = HERE.parent.parent
LIMIT = 120.0  # seconds after which a run is given up


def torchrun(case: Case, *program: object) -> list[str]:
    """The command that starts a program with torchrun."""
    options = ["--standalone", "--nproc-per-node", str(ranks(case))]
    return [sys.executable, "-m", "torch.distributed.run", *options, *map(str, program or (case.path,))]


def forked(case: Case, *program: object) -> list[str]:
    """The command that starts a program with ``start.py``: the same for the ranks, and a third of the CPU time."""
    start = (
        HERE / "start.py"
    ).read_text()  # by -c, so that no file of ours is among the callers of the program's lines
    return [sys.executable, "-c", start, str(ranks(case)), *map(str, program or (case.path,))]


LAUNCHERS: dict[str, Callable[..., list[str]]] = {"torchrun": torchrun, "forked": forked}


@contextlib.contextmanager
def running(command: list[str], log: Path, **variables: str) -> Iterator[subprocess.Popen]:
    """Run a command with its output in ``log``.  At the end every process of its session is killed."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | variables, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        _kill_session(process.pid)
        process.wait()


def _kill_session(session: int) -> None:
    """Kill all processes of a session; torchrun puts each rank into a group of its own."""
    import psutil

    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if os.getsid(process.pid) == session:
                os.kill(process.pid, signal.SIGKILL)


def watch(process: subprocess.Popen, done: Callable[[], bool]) -> bool:
    """Wait until ``done`` or the process has ended.  Returns whether it was ``done`` first."""
    limit = time.monotonic() + LIMIT
    while process.poll() is None and time.monotonic() < limit:
        if done():
            return True
        time.sleep(0.25)
    return False
