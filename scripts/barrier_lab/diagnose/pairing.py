"""Which call of one rank pairs with which call of another.

The rule: the k-th collective that a rank calls on a group pairs with every other rank's k-th, on whatever line it
stands and whatever its kind.
"""

from dataclasses import dataclass

from barrier_lab.trace import Rank, Span, Trace

Calls = dict[str, dict[int, dict[int, Span]]]  # group -> rank -> place in the rank's order -> call


@dataclass(slots=True)
class Meeting:
    """The k-th collective of a group, which some rank waits for or gave up."""

    group: str
    seq: int
    name: str  # as the first of the waiting ranks calls it
    waiting: list[int]  # called it, and it did not return (or ended in an error)
    missing: list[int]  # belong to the group and had not called it


def calls(trace: Trace) -> Calls:
    """All collectives of a run by group, rank and place in the rank's order."""
    found: Calls = {}
    for rank in trace.ranks:
        for span in rank.spans:
            if span.kind == "collective" and span.seq is not None and span.group is not None:
                found.setdefault(span.group, {}).setdefault(rank.rank, {})[span.seq] = span
    for by_rank in found.values():
        for rank, order in by_rank.items():
            by_rank[rank] = dict(sorted(order.items()))
    return found


def members(trace: Trace, found: Calls, group: str) -> list[int]:
    """All ranks for the default group; of another group those that have used it, since a trace holds no more."""
    return list(range(trace.world_size)) if group == "default" else sorted(found.get(group, {}))


def meeting(trace: Trace, found: Calls, span: Span, waiting: list[int]) -> Meeting:
    """Who called the collective that ``span`` belongs to, and who did not."""
    group, seq = span.group or "default", span.seq or 0
    used = found.get(group, {})
    missing = [rank for rank in members(trace, found, group) if next(reversed(used.get(rank, {})), 0) < seq]
    return Meeting(group, seq, span.name, waiting, missing)


def missing(trace: Trace) -> list[Meeting]:
    """The collectives in which ranks waited at the end, or that failed, each with the ranks that did not come."""
    found = calls(trace)
    spans: dict[tuple[str, int], list[Span]] = {}
    for rank in trace.ranks:
        held = waits_for(rank)
        failed = [s for s in rank.spans if s.error and s.kind == "collective" and s.seq is not None]
        for span in [*failed, *([held] if held and held.seq is not None else [])]:
            spans.setdefault((span.group or "default", span.seq or 0), []).append(span)
    return [meeting(trace, found, group[0], [s.rank for s in group]) for group in spans.values()]


def in_flight(rank: Rank) -> list[Span]:
    """Collectives that a rank has started and that have not completed, without the one it is blocked in."""
    return [s for s in rank.spans if s.kind == "collective" and s.end is None and not s.blocked]


def blocked_in(rank: Rank, moment: float | None = None) -> Span | None:
    """The innermost call that held a rank at a moment (None: when its files end).

    C++ may start several collectives for one call: the rank waits for the first of them that has not completed.
    """
    inner = None
    for span in reversed(rank.spans):
        begun = moment is None or span.begin <= moment
        if not (span.blocked and begun and (span.end is None or (moment is not None and span.end > moment))):
            continue
        if inner is None or _together(span, inner):
            inner = span
    return inner


def _together(span: Span, other: Span) -> bool:
    """Whether two calls are collectives of the same kind that one line started."""
    same = (span.name, span.group, span.file, span.line) == (other.name, other.group, other.file, other.line)
    return same and span.kind == "collective"


def waits_for(rank: Rank) -> Span | None:
    """The collective that a rank waits for at the end: the one it is blocked in, or the oldest that is in flight."""
    span = blocked_in(rank)
    if span and span.kind == "collective":
        return span
    placed = rank.leaving or (rank.stuck_at and not rank.stuck_in)
    if (span and span.kind == "wait") or (span is None and placed):
        return next(iter(in_flight(rank)), None)
    return None


def mismatch(found: Calls) -> list[Span] | None:
    """The first calls that pair although they are of different kinds, one per kind; None if all agree."""
    for by_rank in found.values():
        for seq in range(1, max(max(order) for order in by_rank.values()) + 1):
            kinds: dict[str, Span] = {}
            for order in by_rank.values():
                if seq in order:
                    kinds.setdefault(order[seq].name, order[seq])
            if len(kinds) > 1:
                return list(kinds.values())
    return None


def shift(found: Calls) -> tuple[Span, Span] | None:
    """The first two calls that pair although one of their lines is another call of the other rank: counts have shifted.

    Only where the ranks called a different number of times; two lines that always pair (an ``if`` and its ``else``)
    are no shift.
    """
    for by_rank in found.values():
        counts = {len(order) for order in by_rank.values()}
        if len(counts) < 2:
            continue
        longest = max(by_rank.values(), key=len)
        lines = {(s.file, s.line) for s in longest.values()}
        for order in by_rank.values():
            for seq, span in order.items():
                mine = longest.get(seq)
                here = (span.file, span.line)
                if mine and (mine.file, mine.line) != here and here in lines and span.file:
                    return mine, span
    return None
