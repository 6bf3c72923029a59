"""``python -m barrier_lab trace -- COMMAND``: run a command, and record every process below it that makes a group."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from barrier_lab import run_directory
from barrier_lab.errors import UsageError
from barrier_lab.planning.prepare import seconds
from barrier_lab.tracing.rank import STALL, TRACE, ZERO

BEFORE = 0.5  # seconds: a Ctrl-C may reach the ranks before it reaches us
STARTUP = Path(__file__).with_name("startup")


def environment(directory: Path, stall: float) -> dict[str, str]:
    """The variables under which Python records into ``directory``."""
    path = os.pathsep.join(part for part in (str(STARTUP), os.environ.get("PYTHONPATH", "")) if part)
    return {TRACE: str(directory), STALL: f"{stall:g}", ZERO: str(time.monotonic_ns()), "PYTHONPATH": path}


def trace(command: list[str], out: str | None, stall: object) -> tuple[Path, int]:
    """Run the command to its end, or to an interrupt.  Returns the run directory and the command's exit code.

    ``UsageError`` if there is no command, or none of that name, or if the folder holds a run already.
    """
    if not command:
        raise UsageError("There is no command: write it behind --, as in barrier_lab trace -- torchrun train.py.")
    limit = seconds("stall", stall)
    directory = run_directory.make(out) if out else Path(tempfile.mkdtemp(prefix="barrier-lab-trace-"))
    print(f"barrier_lab: recording into {directory}", file=sys.stderr)
    variables = environment(directory, limit)
    try:
        process = subprocess.Popen(command, env=os.environ | variables)
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be run ({error.strerror}): check the name behind --.") from None
    _write(directory, command, {"runner_pid": process.pid, "host": socket.gethostname()})
    code, interrupted_ns = _wait(process)
    result: dict[str, object] = {"command_exit_code": code}
    if interrupted_ns is None:
        result["outcome"] = "failed" if code else "completed"
    else:  # what the ranks did after that is no part of what a reader asks for
        moment = (interrupted_ns - int(variables[ZERO])) / 1e9 - BEFORE
        result |= dict.fromkeys(("stopped", "deadline"), moment)
    _write(directory, command, result)
    return directory, code


def _wait(process: subprocess.Popen) -> tuple[int, int | None]:
    """The exit code of the command, and when it was interrupted, in monotonic ns.

    A Ctrl-C at the terminal reaches the command as well; a request to end is passed on to it.
    """
    interrupted: list[int] = []

    def pass_on(number: int, _: object) -> None:
        interrupted.append(time.monotonic_ns())
        process.send_signal(number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, pass_on)
    while True:
        try:
            return process.wait(), interrupted[0] if interrupted else None
        except KeyboardInterrupt:
            interrupted.append(time.monotonic_ns())
            if len(interrupted) > 1:
                process.kill()


def _write(directory: Path, command: list[str], result: dict) -> None:
    run_directory.write_run_json(directory, {"launcher": "trace", "command": command} | result)
