"""The lesson of the book that treats what a verdict says."""

from barrier_lab.diagnose import outcome
from barrier_lab.diagnose.between_ranks import cycle
from barrier_lab.diagnose.completed import longest_wait
from barrier_lab.diagnose.first_difference import differences
from barrier_lab.diagnose.meetings import calls, with_earlier
from barrier_lab.diagnose.waits import waits
from barrier_lab.trace.model import Trace

_LONG = 0.5  # seconds; a longer wait for one rank is worth a lesson
_STARTS = ("EADDRINUSE", "address already in use", "failed to listen", "failed to bind")


def lesson(trace: Trace) -> str | None:
    """Name of the lesson on what happened; None if everything went well."""
    kind = outcome(trace)
    if kind in ("hung", "interrupted", "running"):
        return _of_hang(trace)
    if kind == "failed":
        return _of_failure(trace)
    return _of_calls(trace) or ("slowest_rank" if longest_wait(trace, calls(trace))[0] > _LONG else None)


def _of_hang(trace: Trace) -> str | None:
    held = waits(trace)
    if not held:
        return "one_sided" if outcome(trace) == "hung" else None
    call = held[0].call
    if call.kind == "group":
        return "processes" if call.name == "init_process_group" else "subgroups"
    if by_calls := _of_calls(trace):
        return by_calls
    if len({wait.call.group for wait in held}) > 1 or cycle(held)[1] or any(wait.call.on for wait in held):
        return "subgroups"
    if any(wait.held is not None and wait.held is not wait.call for wait in held):
        return "async_barrier"
    return "one_sided"


def _of_failure(trace: Trace) -> str:
    if any(rank.error and any(said in rank.error for said in _STARTS) for rank in trace.ranks):
        return "ports_and_orphans"
    if any(not rank.started for rank in trace.ranks):
        return "processes"
    return _of_calls(trace) or "one_sided"


def _of_calls(trace: Trace) -> str | None:
    """By the first calls that were paired although they differ."""
    stray = next(iter(differences(with_earlier(trace, calls(trace)))), None)
    if stray is None:
        return None
    spans = [side[0] for side in stray.sides]
    if any((span.via or "").startswith("DistributedDataParallel") for span in spans):
        alone = any(span.via == "DistributedDataParallel.forward" for span in spans) and stray.kinds
        return "rank0_validation" if alone else "ddp_training"
    return "subgroups" if spans[0].on or spans[0].kind == "group" else "ordering"
