"""A program under a launcher, of which nothing is left behind."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from benchmarks.hangs.cases import HERE, Case, ranks

ROOT = HERE.parent.parent
MARK = "HANGS_JOB"  # environment variable by which the processes of a run are known
LIMIT = 120.0  # seconds after which a run is given up


def torchrun(case: Case, *program: object) -> list[str]:
    """The command that starts a program with torchrun."""
    options = ["--standalone", "--nproc-per-node", str(ranks(case))]
    return [sys.executable, "-m", "torch.distributed.run", *options, *map(str, program or (case.path,))]


def forked(case: Case, *program: object) -> list[str]:
    """The command that starts a program with ``start.py``: the same for the ranks, and a third of the CPU time."""
    start = (HERE / "start.py").read_text()  # by -c, so that no file of ours calls the program's lines
    return [sys.executable, "-c", start, str(ranks(case)), *map(str, program or (case.path,))]


LAUNCHERS: dict[str, Callable[..., list[str]]] = {"torchrun": torchrun, "forked": forked}


@contextlib.contextmanager
def running(command: list[str], log: Path, **variables: str) -> Iterator[subprocess.Popen]:
    """Run a command with its output in ``log``.  At the end every process below it is killed."""
    environment = os.environ | variables | {MARK: str(log)}
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        _kill_marked(str(log))
        process.wait()


def _kill_marked(mark: str) -> None:
    """Kill the processes of a run, which torchrun puts into sessions of their own, by their environment."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark:
                process.kill()


def watch(process: subprocess.Popen, done: Callable[[], bool], limit: float = LIMIT) -> bool:
    """Wait until ``done``, or the process has ended, for ``limit`` seconds.  Returns whether it was ``done`` first."""
    end = time.monotonic() + limit
    while process.poll() is None and time.monotonic() < end:
        if done():
            return True
        time.sleep(0.25)
    return False
