"""One rank of a torchrun job: record it as ``launch`` would, with the agent as runner."""

import argparse
import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

from barrier_lab import cli, common_start, lifeline, output, own_deadline, planning, rank, script
from barrier_lab.errors import UsageError
from barrier_lab.folders import Folder

REFUSED = ("--json", "--plot", "--world-size")
_unasked: Folder | None = None
STOP_AFTER = 1.0  # seconds after a time limit, in which the stack is written


def join(path: Path, worker, arguments: list[str]) -> int:
    """Be one rank of the job.  Returns its exit code."""
    lifeline.die_with_parent()
    for option in REFUSED:
        if any(a == option or a.startswith(f"{option}=") for a in arguments):
            raise UsageError(
                f"{option} has no meaning under torchrun: leave it out, "
                "and look at the result with python -m barrier_lab show DIR."
            )
    about = script.read(path, planning.RESERVED)
    given = cli.script_parser(f"torchrun {about.path.name}", about).parse_args(arguments)
    number = int(os.environ["RANK"])
    plan = _plan(about, given)
    lifeline.end_children_after_me(str(_unasked.path) if _unasked else "")
    log = output.Log(Path(plan["directory"]) / f"rank{number}.log", number, _say_not_kept)
    sys.stdout = output.Lines(1, _tee(1, "out", log))
    sys.stderr = output.Lines(2, _tee(2, "err", log))
    return rank.run(plan, number, _arm(plan), worker)


def _plan(about: script.Script, given: argparse.Namespace) -> dict:
    local_ranks = int(os.environ["LOCAL_WORLD_SIZE"])
    chosen, reason = planning.choose_backend(about, given.backend, given.timeout, local_ranks)
    return {
        "experiment": about.name,
        "script": str(about.path),
        "parameters": script.checked(about, cli.given_parameters(given)),
        "init": about.init,
        "world_size": int(os.environ["WORLD_SIZE"]),
        "backend": chosen,
        "backend_reason": reason,
        "deadline": planning.seconds("deadline", given.deadline),
        "timeout": None if given.timeout is None else planning.seconds("timeout", given.timeout),
        "launcher": "torchrun",
        "directory": str(_directory(given.out)),
    }


def _directory(out: str | None) -> Path:
    """The shared folder; without one, a folder of this rank's own that goes with it."""
    global _unasked
    if out is None:
        _unasked = Folder()
        return _unasked.path
    if restarts := int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")):
        out = str(Path(out) / f"restart-{restarts}")  # what the attempt before recorded is kept
    return planning.writable_directory(out, ("run.json", f"rank{os.environ['RANK']}.trace.json"))


def _say_not_kept(error: OSError) -> None:
    """What a rank prints is shown in any case."""
    note = f"barrier_lab: from here on, what rank {os.environ['RANK']} prints is not kept: {error.strerror}\n"
    with contextlib.suppress(OSError):
        output.write_all(2, note.encode())


def _tee(descriptor: int, stream: str, log: output.Log) -> Callable[[float, str], None]:
    """Send each line to torchrun's terminal and to ``rankN.log``; neither may end the experiment."""

    def send(t: float, text: str) -> None:
        log.keep(t, stream, text)
        with contextlib.suppress(OSError):  # nobody reads it any more, or the disk is full
            output.write_all(descriptor, output.encode(text + "\n"))

    return send


def _arm(plan: dict):
    """End the rank if it does not reach the common start in time, and then by its deadline."""
    own_deadline.end_after(common_start.STARTUP_LIMIT + STOP_AFTER)

    def tell(word: str, detail: str) -> None:
        if word == "start":
            own_deadline.end_after(plan["deadline"] + STOP_AFTER)

    return tell
