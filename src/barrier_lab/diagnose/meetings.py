"""Pair calls of different ranks.

The k-th collective that a rank calls on a group pairs with the k-th of every other rank, regardless of line and kind.
Group creation is counted in the same way, in a separate series.  The k-th send pairs with the k-th receive of the same
group, sender, receiver and tag.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from barrier_lab.trace.model import Rank, Span, Trace

Calls = dict[str, dict[int, dict[int, Span]]]  # group -> rank -> seq -> call


@dataclass(slots=True)
class Meeting:
    """The k-th collective of a group, in which some rank waits or failed."""

    group: str
    seq: int
    name: str  # of the call made by the first waiting rank
    waiting: list[int]  # called it, and did not return (or failed)
    missing: list[int]  # members of the group that had not called it
    on: str = ""  # label of the group; empty for the default group


def calls(trace: Trace) -> Calls:
    """All collectives and group creations of a run by group, rank and seq, sorted by seq."""
    found: Calls = {}
    for rank in trace.ranks:
        for span in rank.spans:
            if span.kind in ("collective", "group") and span.seq is not None and span.group is not None:
                found.setdefault(span.group, {}).setdefault(rank.rank, {})[span.seq] = span
    for by_rank in found.values():
        for rank, order in by_rank.items():
            by_rank[rank] = dict(sorted(order.items()))
    return found


def with_earlier(trace: Trace, found: Calls) -> Calls:
    """The same and the calls around a difference that the traces no longer hold.  Not for counting: there are gaps."""
    if not any(rank.earlier for rank in trace.ranks):
        return found
    more = {group: dict(by_rank) for group, by_rank in found.items()}
    for rank in trace.ranks:
        for span in rank.earlier:
            order = more.setdefault(span.group or "", {}).setdefault(rank.rank, {})
            more[span.group or ""][rank.rank] = {**order, span.seq: span}
    return {
        group: {rank: dict(sorted(order.items())) for rank, order in by_rank.items()} for group, by_rank in more.items()
    }


def dropped(rank: Rank, group: str, name: str | None = None) -> int:
    """How many collectives of a group, of this name or all, the trace of a rank no longer holds."""
    return sum(n for s, n in rank.dropped if s.seq is not None and s.group == group and name in (None, s.name))


def by_place(by_rank: dict[int, dict[int, Span]]) -> dict[int, list[Span]]:
    """The calls of one group that pair with each other, by their place in each rank's order."""
    found: dict[int, list[Span]] = {}
    for order in by_rank.values():
        for seq, span in order.items():
            found.setdefault(seq, []).append(span)
    return found


def members(trace: Trace, found: Calls, group: str) -> list[int]:
    """The ranks of a group from the trace.  If unknown: all ranks for the default group, else those that used it."""
    if group in trace.groups:
        return sorted(trace.groups[group])
    return list(range(trace.world_size)) if group == "default" else sorted(found.get(group, {}))


def expected(trace: Trace, found: Calls, span: Span) -> list[int]:
    """The ranks that must make the same call as ``span``; for a new group, its members."""
    return sorted(span.ranks) if span.kind == "group" and span.ranks else members(trace, found, span.group or "default")


def meeting(trace: Trace, found: Calls, span: Span, waiting: list[int]) -> Meeting:
    """The meeting that ``span`` belongs to, with the ranks that did not call it."""
    group, seq = span.group or "default", span.seq or 0
    used = found.get(group, {})
    missing = [rank for rank in expected(trace, found, span) if next(reversed(used.get(rank, {})), 0) < seq]
    return Meeting(group, seq, span.name, waiting, missing, span.on)


def counterpart(trace: Trace, message: Span) -> Span | None:
    """The matching receive of a send, or the matching send of a receive; None if it was not called.

    Also None for a receive from any rank, whose counterpart is not certain.
    """
    if message.peer is None or not 0 <= message.peer < len(trace.ranks):
        return None
    mine, theirs = trace.ranks[message.rank], trace.ranks[message.peer]
    way = (message.group, message.peer, message.tag, is_send(message))
    place = _dropped_messages(mine, way) + sum(1 for s in _messages(mine, way) if s.begin < message.begin)
    opposite = (message.group, message.rank, message.tag, not is_send(message))
    others = list(_messages(theirs, opposite))
    place -= _dropped_messages(theirs, opposite)
    if place < 0:  # it was called, and is no longer in the trace
        return next(span for span, _ in theirs.dropped if _way(span) == opposite)
    return others[place] if place < len(others) else None


def series(span: Span) -> tuple:
    """The key of calls that are counted together: "2nd send to rank 1" is the second of its series."""
    return span.name, span.kind, span.group, span.peer, span.tag


def places_in_series(rank: Rank) -> dict[int, int]:
    """The ordinal of each call of a rank within its series, by ``id(span)``."""
    counts: Counter = Counter()
    for span, count in rank.dropped:
        counts[series(span)] += count
    found = {}
    for span in rank.spans:
        counts[series(span)] += 1
        found[id(span)] = counts[series(span)]
    return found


def other_side(message: Span) -> str:
    """ " to rank 1 with tag 2"; empty if ``message`` is not a message."""
    if message.kind != "p2p" or message.tag is None:
        return ""
    way = "to" if is_send(message) else "from"
    tag = f" with tag {message.tag}" if message.tag else ""
    return f" {way} {'any rank' if message.peer is None else f'rank {message.peer}'}{tag}"


def is_send(message: Span) -> bool:
    """Whether a message is sent, not received."""
    return "send" in message.name


def _way(span: Span) -> tuple:
    return span.group, span.peer, span.tag, is_send(span)


def _messages(rank: Rank, way: tuple) -> Iterator[Span]:
    return (span for span in rank.spans if span.kind == "p2p" and _way(span) == way)


def _dropped_messages(rank: Rank, way: tuple) -> int:
    return sum(count for span, count in rank.dropped if span.kind == "p2p" and _way(span) == way)
