"""Start what needs torch from a process that has imported it: torchrun's agent, and our command line.

Each saves the two seconds of work that an import of torch takes; a whole test run has hundreds of them.
"""

import io
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["torch", "torch.distributed", "torch.distributed.run"])


def completed(target: Callable, *arguments: object, environment: dict[str, str], timeout: float = 120.0):
    """Call ``target(*arguments)`` in a new process under ``environment``: its exit code and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder, name)) for name in ("out", "err")]
        process = _context.Process(target=_call, args=(target, arguments, environment, files))
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(target.__name__, timeout)
        out, err = (Path(file).read_text(errors="replace") for file in files)
        return subprocess.CompletedProcess([target.__name__, *arguments], process.exitcode, out, err)


def _call(target: Callable, arguments: tuple, environment: dict[str, str], files: list[str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    for descriptor, file in enumerate(files, start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), descriptor)
    # A new process has no line of output in these two, as one that was forked may have.
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(fd, "w", closefd=False), line_buffering=True) for fd in (1, 2))
    target(*arguments)


def agent(*arguments: str) -> None:
    """``torchrun …``."""
    from torch.distributed import run

    run.main(list(arguments))


def command_line(*arguments: str) -> None:
    """``python -m barrier_lab …``."""
    from barrier_lab import cli

    sys.exit(cli.package_main(list(arguments)))
