"""Find the processes that a test left behind: each carries a mark in its environment."""

import os
import time
import uuid
from pathlib import Path

import psutil
import warm

_VARIABLE = "MARK_OF_A_TEST"


def marked_environment() -> dict[str, str]:
    """An environment that every descendant of a process inherits, with a new mark."""
    return os.environ | {_VARIABLE: uuid.uuid4().hex}


def marked(environment: dict[str, str]) -> list[psutil.Process]:
    """The living processes that carry the mark."""
    return [process for process in psutil.process_iter() if _mark(process) == environment[_VARIABLE]]


def _mark(process: psutil.Process) -> str | None:
    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else process.environ().get(_VARIABLE)
    except psutil.Error:
        return None


def assert_nothing_left(environment: dict[str, str], within: float = 20.0) -> None:
    """Fail, and clean up, if a marked process is still there after ``within`` seconds."""
    limit = time.monotonic() + within
    while (left := marked(environment)) and time.monotonic() < limit:
        time.sleep(0.05)
    described = [(p.pid, p.cmdline()) for p in left if p.is_running()]
    for process in left:
        process.kill()
    assert not described, f"left over: {described}"


def barrier_lab(*arguments: object, environment: dict[str, str] | None = None, timeout: float = 120.0):
    """``python -m barrier_lab …`` to its end, its output as text."""
    marked = environment or dict(os.environ)
    return warm.completed(warm.command_line, *map(str, arguments), environment=marked, timeout=timeout)


def torchrun(script: Path, *arguments: object, ranks: int = 2, options: tuple[str, ...] = ()):
    """``torchrun SCRIPT …`` to its end, its output as text; fails if it leaves a process behind."""
    environment = marked_environment()
    agent = ("--standalone", "--nproc-per-node", str(ranks), *options)
    done = warm.completed(warm.agent, *agent, str(script), *map(str, arguments), environment=environment)
    assert_nothing_left(environment)
    return done
