"""Which ranks wait, in which call, and for which ranks: the basis of verdict and figure."""

from dataclasses import dataclass

from barrier_lab.diagnose.meetings import Calls, Meeting, calls, counterpart, expected, meeting, members
from barrier_lab.trace.model import Rank, Span, Trace


@dataclass(frozen=True, slots=True)
class Wait:
    """A thread that is waiting for other ranks at the end of a run."""

    rank: int
    thread: str | None  # name of the thread; None for the main thread
    call: Span  # the collective, message or group creation that it waits for
    held: Span | None  # the call that blocks it: ``call`` or a wait() for it; None if only in flight
    group: tuple[int, ...]  # the ranks of the group
    awaited: tuple[int, ...]  # the ranks that had not made the call that this wait needs


def waits(trace: Trace) -> list[Wait]:
    """All waits at the end of a run, by rank, main thread first.  Sleeps do not count as waits."""
    found = calls(trace)
    told = []
    for rank in trace.ranks:
        by_thread = blocked(rank)
        for thread, span in by_thread.items():
            if (call := _awaited_call(rank, span)) is not None:
                told.append(_wait(trace, found, rank, thread, call, span))
        if None not in by_thread and (call := _pending(rank)) is not None:
            told.append(_wait(trace, found, rank, None, call, None))
    return told


def blocked(rank: Rank, moment: float | None = None) -> dict[str | None, Span]:
    """The innermost call blocking each thread at ``moment`` (default: when the rank's files end), main thread first.

    C++ may start several collectives for one call; the rank then waits for the first one that has not completed.
    """
    inner: dict[str | None, Span] = {}
    for span in reversed(rank.spans):
        begun = moment is None or span.begin <= moment
        if not (span.blocked and begun and (span.end is None or (moment is not None and span.end > moment))):
            continue
        if span.thread not in inner or _together(span, inner[span.thread]):
            inner[span.thread] = span
    return dict(sorted(inner.items(), key=lambda item: (item[0] is not None, item[0] or "")))


def blocked_in(rank: Rank, moment: float | None = None) -> Span | None:
    """The innermost call blocking the main thread at ``moment`` (default: when the rank's files end)."""
    return blocked(rank, moment).get(None)


def in_flight(rank: Rank) -> list[Span]:
    """Collectives that a rank has started and that have not completed, except those it is blocked in."""
    return [s for s in rank.spans if s.kind == "collective" and s.end is None and not s.blocked]


def handled_call(rank: Rank, wait: Span) -> Span | None:
    """The call whose handle ``wait`` waits for; None if not recorded."""
    return None if wait.of is None else next((span for span in rank.spans if span.op == wait.of), None)


def missing(trace: Trace) -> list[Meeting]:
    """The collectives that ranks were waiting in at the end or that failed, each with the missing ranks."""
    found = calls(trace)
    spans: dict[tuple[str, int], list[Span]] = {}
    held = [wait.call for wait in waits(trace) if wait.call.seq is not None]
    failed = [s for r in trace.ranks for s in r.spans if s.error and s.kind == "collective" and s.seq is not None]
    for span in sorted([*failed, *held], key=lambda span: span.rank):
        spans.setdefault((span.group or "default", span.seq or 0), []).append(span)
    return [meeting(trace, found, group[0], [s.rank for s in group]) for group in spans.values()]


def _together(span: Span, other: Span) -> bool:
    """Whether two calls are collectives of the same kind started by the same line."""
    same = (span.name, span.group, span.file, span.line) == (other.name, other.group, other.file, other.line)
    return same and span.kind == "collective"


def _awaited_call(rank: Rank, held: Span) -> Span | None:
    """The call that a blocked thread waits for: ``held`` itself, or the call whose handle it waits for."""
    if held.kind != "wait":
        return None if held.kind == "sleep" else held
    if held.of is not None:
        return handled_call(rank, held) or held
    open_ones = in_flight(rank)
    return open_ones[0] if len(open_ones) == 1 else held  # if there are several, it is not recorded which one


def _pending(rank: Rank) -> Span | None:
    """An incomplete collective started by C++ on a rank whose main thread is not in a recorded call."""
    if rank.stuck_in or not (rank.stuck_at or rank.leaving):
        return None
    return next((span for span in in_flight(rank) if not span.handle), None)


def _wait(trace: Trace, found: Calls, rank: Rank, thread: str | None, call: Span, held: Span | None) -> Wait:
    if call.kind == "p2p":
        group = tuple(members(trace, found, call.group or "default"))
        if call.peer is None:
            awaited = tuple(other for other in group if other != rank.rank)
        else:
            awaited = () if counterpart(trace, call) else (call.peer,)
    elif call.seq is None:  # an unknown handle
        group, awaited = (), ()
    else:
        group = tuple(expected(trace, found, call))
        awaited = tuple(meeting(trace, found, call, []).missing)
    return Wait(rank.rank, thread, call, held, group, awaited)
