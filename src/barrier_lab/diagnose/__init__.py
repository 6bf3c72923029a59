"""Diagnose a run: which ranks wait, for which ranks, and where every other rank is.

Computed from the trace alone, for any script.  The wording distinguishes what the files show from what they cannot
know.  A "deadline" is the runner's; a "timeout" is the process group's.
"""

from barrier_lab.diagnose import rank_state
from barrier_lab.diagnose.completed import completed
from barrier_lab.diagnose.durations import clock
from barrier_lab.diagnose.failure import failed, is_victim
from barrier_lab.diagnose.hung import hung
from barrier_lab.diagnose.sentences import closed, filled
from barrier_lab.diagnose.waits import Wait, missing, waits
from barrier_lab.trace.model import Rank, Trace

__all__ = ["Wait", "missing", "outcome", "stands", "verdict", "waits"]


def outcome(trace: Trace) -> str:
    """The outcome recorded by the runner, or else inferred from the ranks' files.

    One of "completed", "failed", "hung", "interrupted"; for a job still in progress, "hung" or "running".
    """
    if trace.outcome:
        return trace.outcome
    if trace.running:
        return "hung" if any(map(_is_stuck, trace.ranks)) else "running"
    if any((rank.exit_code or rank.error) and not is_victim(rank) for rank in trace.ranks):
        return "failed"
    left = [rank for rank in trace.ranks if not _is_over(rank)]
    if not left:
        return "completed"
    late = trace.deadline is not None and trace.end >= trace.deadline
    if any((rank.ended is None or not rank.exited) and (_is_stuck(rank) or late) for rank in left):
        return "hung"
    # Our runner writes the outcome unless it is killed; its ranks then end too, and may see each other end.
    runner_killed = trace.launcher in ("spawn", "forkserver")
    return "failed" if not runner_killed and any(rank.error for rank in trace.ranks) else "interrupted"


def _is_over(rank: Rank) -> bool:
    """Whether a rank ended normally: its worker returned or it exited with code 0, and its process is not stuck."""
    if rank.exited:
        return not rank.exit_code and not rank.error
    return rank.ended is not None and not rank.error and not _is_stuck(rank)


def _is_stuck(rank: Rank) -> bool:
    return bool(rank.stuck_at or rank.stuck_in or rank.leaving)


def verdict(trace: Trace) -> str:
    """What happened, in a few sentences."""
    if not trace.ranks:
        return "No process has made a process group." + (" The command is still running." if trace.running else "")
    if trace.message and not any(rank.started or rank.error for rank in trace.ranks):
        return closed(trace.message)
    told = {"completed": completed, "failed": failed, "hung": _hung, "running": _running, "interrupted": _interrupted}
    tell = told[outcome(trace)](trace)
    lead = [closed(trace.message)] if trace.message else []
    if trace.caveat:
        tell.append(trace.caveat)
    if not trace.one_clock:
        tell.append("The ranks ran on several hosts, whose clocks differ: compare no times of different ranks.")
    if most := max((sum(count for _, count in rank.dropped) for rank in trace.ranks), default=0):
        tell.append(f"Up to {most:,} calls of each rank are no longer in the traces; they are counted, but not drawn.")
    return " ".join([*lead, *tell]) or "The files of this run do not say what happened."


def stands(rank: Rank, moment: float | None = None) -> str:
    """Where a rank was at ``moment`` (default: at the end), as a predicate: "was in time.sleep (one_sided.py:25)"."""
    phrase = rank_state.stands(rank, moment)
    return filled(phrase.text, 1, [] if phrase.t is None else [phrase.t])


def _hung(trace: Trace) -> list[str]:
    return hung(trace, _stop(trace))


def _running(trace: Trace) -> list[str]:
    return [f"The job is running, at {clock(trace.end)}, and no rank has stalled.", *hung(trace, "by then")]


def _interrupted(trace: Trace) -> list[str]:
    if trace.outcome or trace.stopped is not None:
        lead = f"The run was interrupted{f' at {clock(trace.stopped)}' if trace.stopped else ''}."
    else:
        lead = (
            f"The files end at {clock(trace.end)} and do not say how the run ended: "
            "it may still be going on, or what started it was killed."
        )
    return [lead, *_hung(trace)]


def _stop(trace: Trace) -> str:
    """The clause that gives the time to which the verdict refers."""
    if trace.stopped is not None:
        return f"when the run was stopped at {clock(trace.stopped)}"
    late = outcome(trace) == "hung"
    if late and not any(rank.started for rank in trace.ranks):
        return "when the time for the start was over"
    if late and trace.deadline is not None:
        return f"when the deadline passed at {clock(trace.deadline)}"
    return "by then"
