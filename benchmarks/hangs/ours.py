"""A program under ``barrier_lab trace``, interrupted when its hang is told and lasts."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.hangs import job
from benchmarks.hangs.cases import Case
from benchmarks.hangs.report import VERDICT, Report

from barrier_lab import api, diagnose
from barrier_lab.errors import UsageError
from barrier_lab.trace import attempts
from barrier_lab.trace.model import Trace

STALL = 10.0  # seconds without progress after which a rank writes its stacks: the default of `trace`
LASTS = 3.0  # seconds that a hang has to be told without a break before somebody presses Ctrl-C


def report(case: Case, folder: Path, launcher: str, stall: float) -> Report:
    """Run a program and return the verdict that ``trace`` prints at its end."""
    command = [sys.executable, "-m", "barrier_lab", "trace", "--out", str(folder / "trace"), "--stall", f"{stall:g}"]
    seen = Seen(folder / "trace")
    with job.running([*command, "--", *job.LAUNCHERS[launcher](case)], folder / "trace.log") as process:
        hung = job.watch(process, seen.told)
        _interrupt(process)
    trace = api.load(attempts.attempts(folder / "trace")[-1]).trace
    outcome = "hung" if hung else diagnose.outcome(trace)
    return Report(VERDICT, outcome, diagnose.verdict(trace), _seconds(trace) if hung else None, seen.alarm)


def _interrupt(process: subprocess.Popen) -> None:
    """Press Ctrl-C, which reaches the launcher and the ranks as well, and again.

    torchrun gives ranks half a minute to end, and those blocked in a collective need all of it: nobody waits so long.
    """
    for _ in range(3):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=3)


class Seen:
    """What ``show`` would have said while the job ran."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.since: float | None = None  # the moment from which a hang has been told without a break
        self.alarm = False  # a hang was told at any time

    def told(self) -> bool:
        """Whether a hang has been told for long enough."""
        if not self._hung():
            self.since = None
            return False
        self.alarm = True
        self.since = self.since or time.monotonic()
        return time.monotonic() - self.since > LASTS

    def _hung(self) -> bool:
        try:
            return api.load(attempts.attempts(self.directory)[-1]).outcome == "hung"
        except UsageError:  # no rank has begun
            return False


def _seconds(trace: Trace) -> float | None:
    """Seconds from the last progress of any rank until the hang was told; None if no rank has made any."""
    told = (trace.stopped or trace.end) - LASTS
    moments = [t for rank in trace.ranks for span in rank.spans for t in (span.begin, span.end) if t is not None]
    before = [t for t in moments if t < told]
    return told - max(before) if before else None
