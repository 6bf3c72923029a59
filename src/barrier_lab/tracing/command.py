"""``python -m barrier_lab trace -- COMMAND``: run a command and record its processes that initialize a group."""

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
from barrier_lab.planning.prepare import positive
from barrier_lab.tracing.rank import KEEP, STALL, TRACE, ZERO

BEFORE = 1.5  # seconds; on a busy machine, Ctrl-C reaches the ranks that much before it reaches this process
STARTUP = Path(__file__).with_name("startup")


def environment(directory: Path, stall: float, keep: float) -> dict[str, str]:
    """The environment variables that make Python processes record into ``directory``.

    ``stall``: seconds without progress after which a rank writes its stacks.  ``keep``: MB that each trace may take.
    """
    path = os.pathsep.join(part for part in (str(STARTUP), os.environ.get("PYTHONPATH", "")) if part)
    zero = str(time.monotonic_ns())
    return {TRACE: str(directory), STALL: f"{stall:g}", KEEP: f"{keep:g}", ZERO: zero, "PYTHONPATH": path}


def trace(command: list[str], out: str | None, stall: object, keep: object) -> tuple[Path, int]:
    """Run the command until it ends or is interrupted.  Returns the run directory and the command's exit code.

    Raises ``UsageError`` if there is no command, if it cannot be run, or if ``out`` already contains a run.
    """
    if not command:
        raise UsageError("There is no command: write it behind --, as in barrier_lab trace -- torchrun train.py.")
    given = positive("stall", stall), positive("keep", keep, "megabytes")
    directory = run_directory.make(out) if out else Path(tempfile.mkdtemp(prefix="barrier-lab-trace-"))
    print(f"barrier_lab: recording into {directory}", file=sys.stderr)
    variables = environment(directory, *given)
    try:
        process = subprocess.Popen(command, env=os.environ | variables)
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be run ({error.strerror}): check the name behind --.") from None
    _write(directory, command, {"runner_pid": process.pid, "host": socket.gethostname()})
    code, interrupted_ns = _wait(process, directory)
    result: dict[str, object] = {"command_exit_code": code}
    if interrupted_ns is None:
        result["outcome"] = "failed" if code else "completed"
    else:  # what the ranks did after the interrupt is not of interest
        moment = (interrupted_ns - int(variables[ZERO])) / 1e9 - BEFORE
        result |= dict.fromkeys(("stopped", "deadline"), moment)
    _write(directory, command, result)
    return directory, code


def _wait(process: subprocess.Popen, directory: Path) -> tuple[int, int | None]:
    """Wait for the command.  Returns its exit code and when it was interrupted, in monotonic ns, or None.

    Ctrl-C in the terminal also reaches the command directly; SIGTERM and SIGHUP are forwarded to it.  A second Ctrl-C
    kills the command and all that it has started: a launcher that is killed leaves its ranks behind.
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
                _kill_processes_of(directory)


def _kill_processes_of(directory: Path) -> None:
    """Kill the processes that inherited the environment of this run.  Where there is no /proc, does nothing."""
    inherited = f"{TRACE}={directory}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            descriptor = os.pidfd_open(int(folder.name))  # first, since the number may be reused
        except OSError:
            continue
        try:
            if inherited in (folder / "environ").read_bytes().split(b"\0"):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        except OSError:  # another user's, or ended
            pass
        finally:
            os.close(descriptor)


def _write(directory: Path, command: list[str], result: dict) -> None:
    run_directory.write_run_json(directory, {"launcher": "trace", "command": command} | result)
