"""Run one rank of a torchrun job, recorded as by ``launch``, with the agent as the runner."""

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

from barrier_lab import run_directory
from barrier_lab.errors import UsageError
from barrier_lab.planning.plan import Plan
from barrier_lab.planning.prepare import RESERVED, prepare_for_torchrun
from barrier_lab.rank import common_start, deadline, lifeline, main, output
from barrier_lab.rank.log import Log
from barrier_lab.script import options, source
from barrier_lab.temporary_folder import Folder

REFUSED = ("--json", "--plot", "--world-size")
_unasked: Folder | None = None
STOP_AFTER = 1.0  # seconds after a limit, in which the stacks are dumped


def join(path: Path, worker, arguments: list[str]) -> int:
    """Run this process as one rank of the job.  Returns its exit code."""
    lifeline.die_with_parent()
    for option in REFUSED:
        if any(a == option or a.startswith(f"{option}=") for a in arguments):
            raise UsageError(
                f"{option} has no meaning under torchrun: leave it out, "
                "and look at the result with python -m barrier_lab show DIR."
            )
    about = source.read(path, RESERVED)
    given = options.script_parser(f"torchrun {about.path.name}", about).parse_args(arguments)
    number = int(os.environ["RANK"])
    parameters = options.given_parameters(given)
    out = _directory(given.out)
    plan = prepare_for_torchrun(about, parameters, given.backend, given.deadline, given.timeout, out)
    lifeline.end_children_after_me(str(_unasked.path) if _unasked else "")
    log = Log(run_directory.log_of(out, number), number, _say_not_kept)
    sys.stdout = output.LineStream(1, _tee(1, "out", log))
    sys.stderr = output.LineStream(2, _tee(2, "err", log))
    return main.run(plan, number, _arm(plan), worker)


def _directory(out: str | None) -> Path:
    """The shared run directory, or a temporary folder of this rank if ``out`` is None."""
    global _unasked
    if out is None:
        _unasked = Folder()
        return _unasked.path
    if restarts := int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")):
        out = str(Path(out) / f"restart-{restarts}")  # the recordings of earlier attempts are kept
    return run_directory.make(out, ("run.json", f"rank{os.environ['RANK']}.trace.json"))


def _say_not_kept(error: OSError) -> None:
    """Warn that output is no longer logged.  It is still shown."""
    note = f"barrier_lab: from here on, what rank {os.environ['RANK']} prints is not kept: {error.strerror}\n"
    with contextlib.suppress(OSError):
        output.write_all(2, note.encode())


def _tee(descriptor: int, stream: str, log: Log) -> Callable[[float, str], None]:
    """Send each line to torchrun's terminal and to ``rankN.log``; an error in either must not stop the experiment."""

    def send(t: float, text: str) -> None:
        log.keep(t, stream, text)
        with contextlib.suppress(OSError):  # the reader has closed the pipe, or the disk is full
            output.write_all(descriptor, output.encode(text + "\n"))

    return send


def _arm(plan: Plan):
    """Kill the rank if it does not reach the common start in time, and afterwards at its deadline."""
    deadline.end_after(common_start.STARTUP_LIMIT + STOP_AFTER)

    def tell(word: str, detail: str) -> None:
        if word == "start":
            deadline.end_after(plan.deadline + STOP_AFTER)

    return tell
