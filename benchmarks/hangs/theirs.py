"""A program under PyTorch's own means, at the settings that its documentation recommends for finding a hang."""

import subprocess
import time
from pathlib import Path

from benchmarks.hangs import errors, flight_recorder, job, stacks
from benchmarks.hangs.cases import HERE, Case, ends_well, ranks
from benchmarks.hangs.report import Report

TIMEOUT = 8.0  # seconds: the timeout of the process groups, in the place of 30 minutes
UNCHANGED = 4.0  # seconds without a change in any stack after which somebody looks at the job
PATIENCE = 40.0  # seconds after which somebody looks in any case
RECORDER = {"TORCH_FR_BUFFER_SIZE": "20000"}
SETTINGS = {
    errors.DETAIL: {"TORCH_DISTRIBUTED_DEBUG": "DETAIL", "HANGS_TIMEOUT": f"{TIMEOUT:g}"},
    errors.MONITORED: {"HANGS_MONITORED": "1", "HANGS_TIMEOUT": f"{TIMEOUT:g}"},
}


def looked_at(case: Case, folder: Path, launcher: str) -> list[Report]:
    """Run once, look at the stacks and dump the flight recorder when nothing changes any more."""
    if ends_well(case):  # nobody looks at a job that ends
        return []
    seen = Unchanged(case, folder)
    with _running(case, folder, launcher, **RECORDER) as process:
        hung = job.watch(process, seen.long_enough, limit=PATIENCE) or process.poll() is None
        frames = stacks.take(case, folder) if hung else {}
        if hung:
            (folder / "dump").touch()
            job.watch(process, lambda: len(list(folder.glob("fr_*"))) == ranks(case), limit=10)
    outcome = _outcome(process, hung)
    told = stacks.text(case, frames) if frames else ""
    return [
        Report(stacks.TOOL, outcome, told),
        Report(flight_recorder.TOOL, outcome, flight_recorder.text(case, folder)),
    ]


def timed_out(case: Case, folder: Path, launcher: str, tool: str) -> list[Report]:
    """Run until the program ends, which it does at the latest when the timeout of its group has passed."""
    if tool == errors.MONITORED and "dist.barrier()" not in case.path.read_text():
        return []
    with _running(case, folder, launcher, **SETTINGS[tool]) as process:
        job.watch(process, lambda: _all_over(case, folder))
        outcome = _outcome(process, process.poll() is None)
    told = errors.text(case, folder)
    return [Report(tool, _as_asked(case, outcome, told), told, _seconds(case, folder))]


def _running(case: Case, folder: Path, launcher: str, **variables: str):
    command = job.LAUNCHERS[launcher](case, HERE / "with_hook.py", folder, case.path)
    return job.running(command, folder / "job.log", **variables)


def _outcome(process: subprocess.Popen, hung: bool) -> str:
    return "hung" if hung else "failed" if process.returncode else "completed"


def _as_asked(case: Case, outcome: str, told: str) -> str:
    """A hang that is ended by an error with a finding counts as found."""
    return case.outcome if case.outcome == "hung" and outcome == "failed" and told else outcome


def _all_over(case: Case, folder: Path) -> bool:
    """Whether nothing more is to come: the timeout has passed since the last rank said anything."""
    logs = [folder / f"log_{rank}" for rank in range(ranks(case))]
    return all(log.exists() and time.time() - log.stat().st_mtime > 4 * TIMEOUT for log in logs)


def _seconds(case: Case, folder: Path) -> float | None:
    """Seconds from the start of the ranks to the last error message."""
    pids = [folder / f"pid_{rank}" for rank in range(ranks(case))]
    logs = [folder / f"log_{rank}" for rank in range(ranks(case))]
    if not all(path.exists() for path in pids) or not any(log.stat().st_size for log in logs if log.exists()):
        return None
    return max(log.stat().st_mtime for log in logs) - max(pid.stat().st_mtime for pid in pids)


class Unchanged:
    """Whether the stacks of all ranks have not changed for a while."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.paths = [folder / f"stacks_{rank}" for rank in range(ranks(case))]
        self.known: list[str] = []
        self.since = time.monotonic()

    def long_enough(self) -> bool:
        """True when the time is over."""
        now = [path.read_text() if path.exists() else "" for path in self.paths]
        if now != self.known or not all(now):
            self.known, self.since = now, time.monotonic()
        return time.monotonic() - self.since > UNCHANGED
