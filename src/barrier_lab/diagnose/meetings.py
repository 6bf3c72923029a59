"""Which call of one rank pairs with which call of another.

The rule: the k-th collective that a rank calls on a group pairs with every other rank's k-th, on whatever line it is
and whatever its kind.  The making of groups is counted in the same way, in a series of its own.  A message pairs with
the k-th message of the same group, sender, receiver and tag.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from barrier_lab.trace.model import Span, Trace

Calls = dict[str, dict[int, dict[int, Span]]]  # group -> rank -> place in the rank's order -> call


@dataclass(slots=True)
class Meeting:
    """The k-th collective of a group, which some rank waits for or gave up."""

    group: str
    seq: int
    name: str  # as the first of the waiting ranks calls it
    waiting: list[int]  # called it, and it did not return (or ended in an error)
    missing: list[int]  # belong to the group and had not called it
    on: str = ""  # the group as a reader knows it


def calls(trace: Trace) -> Calls:
    """All collectives of a run by group, rank and place in the rank's order."""
    found: Calls = {}
    for rank in trace.ranks:
        for span in rank.spans:
            if span.kind in ("collective", "group") and span.seq is not None and span.group is not None:
                found.setdefault(span.group, {}).setdefault(rank.rank, {})[span.seq] = span
    for by_rank in found.values():
        for rank, order in by_rank.items():
            by_rank[rank] = dict(sorted(order.items()))
    return found


def members(trace: Trace, found: Calls, group: str) -> list[int]:
    """The ranks of a group: as the trace tells them; else all for the default group, and for another its users."""
    if group in trace.groups:
        return sorted(trace.groups[group])
    return list(range(trace.world_size)) if group == "default" else sorted(found.get(group, {}))


def expected(trace: Trace, found: Calls, span: Span) -> list[int]:
    """The ranks that must call what ``span`` is a call of; for a new group, its members."""
    return sorted(span.ranks) if span.kind == "group" and span.ranks else members(trace, found, span.group or "default")


def meeting(trace: Trace, found: Calls, span: Span, waiting: list[int]) -> Meeting:
    """Who called the collective that ``span`` belongs to, and who did not."""
    group, seq = span.group or "default", span.seq or 0
    used = found.get(group, {})
    missing = [rank for rank in expected(trace, found, span) if next(reversed(used.get(rank, {})), 0) < seq]
    return Meeting(group, seq, span.name, waiting, missing, span.on)


def counterpart(trace: Trace, message: Span) -> Span | None:
    """The call that takes what ``message`` sends, or sends what it takes; None if nobody had made it.

    A message from any rank has none that is sure.
    """
    if message.peer is None or not 0 <= message.peer < len(trace.ranks):
        return None
    place = sum(1 for other in _alike(trace, message.rank, message) if other.begin < message.begin)
    others = list(_opposite(trace, message))
    return others[place] if place < len(others) else None


def series(span: Span) -> tuple:
    """What calls have in common that are counted together: "2nd send to rank 1" is the second of its series."""
    return span.name, span.kind, span.group, span.peer, span.tag


def places_in_series(spans: list[Span]) -> dict[int, int]:
    """The ordinal of every call of a rank among those of its series, by ``id(span)``."""
    counts: Counter = Counter()
    found = {}
    for span in spans:
        counts[series(span)] += 1
        found[id(span)] = counts[series(span)]
    return found


def other_side(message: Span) -> str:
    """ " to rank 1 with tag 2"; nothing for what is no message."""
    if message.kind != "p2p" or message.tag is None:
        return ""
    way = "to" if is_send(message) else "from"
    tag = f" with tag {message.tag}" if message.tag else ""
    return f" {way} {'any rank' if message.peer is None else f'rank {message.peer}'}{tag}"


def is_send(message: Span) -> bool:
    """Whether a message goes out."""
    return "send" in message.name


def _alike(trace: Trace, rank: int, message: Span) -> Iterator[Span]:
    way = (message.group, message.peer, message.tag, is_send(message))
    for span in trace.ranks[rank].spans:
        if span.kind == "p2p" and (span.group, span.peer, span.tag, is_send(span)) == way:
            yield span


def _opposite(trace: Trace, message: Span) -> Iterator[Span]:
    way = (message.group, message.rank, message.tag, not is_send(message))
    for span in trace.ranks[message.peer].spans:
        if span.kind == "p2p" and (span.group, span.peer, span.tag, is_send(span)) == way:
            yield span
