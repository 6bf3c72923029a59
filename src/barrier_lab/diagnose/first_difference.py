"""Find where the calls of ranks first differ: in kind, in call path, or in arguments."""

from dataclasses import dataclass

from barrier_lab.diagnose.meetings import Calls
from barrier_lab.trace.model import Span

Way = tuple  # the lines of user code that led to a call, innermost first: (file, line, …)


@dataclass(frozen=True, slots=True)
class Difference:
    """Calls that were paired although they are not the same call."""

    group: str
    seq: int
    sides: tuple[tuple[Span, ...], ...]  # the calls, grouped by kind or path; the side of the lowest rank first
    kinds: bool  # True if the calls are of different kinds; False if only their call paths differ


def differences(found: Calls) -> list[Difference]:
    """The first difference of each group, sorted by time."""
    strays = [stray for by_rank in found.values() if (stray := _first(by_rank, _certain))]
    return sorted(strays, key=_moment)


def shifts(found: Calls) -> list[Difference]:
    """Like ``differences``, for runs that did not complete: less evidence is required to call two lines different."""
    strays = [stray for by_rank in found.values() if (stray := _first(by_rank, _likely))]
    return sorted(strays, key=_moment)


def kinds(found: Calls) -> list[Difference]:
    """The first paired calls of each group that are of different kinds, sorted by time."""
    strays = [stray for by_rank in found.values() if (stray := _first(by_rank, lambda *_: False))]
    return sorted(strays, key=_moment)


def way(span: Span) -> Way:
    """The call path: the lines of user code that led to a call."""
    return (span.file, span.line, *((caller.file, caller.line) for caller in span.callers))


def unlike(spans: list[Span]) -> list[str]:
    """Arguments that differ although paired calls must agree on them: "size", "type", "reduce operation", "root"."""
    if len({span.name for span in spans}) > 1:
        return []
    asked = {
        "size": lambda span: span.numel,
        "type": lambda span: span.tensor and span.tensor.partition("[")[0] if span.numel is not None else None,
        "reduce operation": lambda span: span.reduce,
        "root": lambda span: span.root,
    }
    return [what for what, ask in asked.items() if len({ask(span) for span in spans} - {None}) > 1]


def _moment(stray: Difference) -> float:
    return max(span.begin for side in stray.sides for span in side)


def _first(by_rank: dict[int, dict[int, Span]], tells) -> Difference | None:
    """The first calls that differ in kind, or whose call paths differ and ``tells`` accepts that as evidence."""
    orders = list(by_rank.values())
    if len(orders) < 2:
        return None
    ways = _Ways()
    known: dict[tuple[int, int], tuple] = {}
    for seq in sorted({seq for order in orders for seq in order}):
        here = [order[seq] for order in orders if seq in order]
        if len({_kind(span) for span in here}) > 1:
            return Difference(here[0].group or "", seq, _sides(here, _kind), True)
        if any(map(_stands_in, here)) and any(span.via is None for span in here):  # Join knows no call of the user's
            return Difference(here[0].group or "", seq, _sides(here, lambda span: ways[span]), False)
        here = [span for span in here if not _stands_in(span)]
        if any(_elsewhere(span, here[0]) for span in here) and _any_pair(by_rank, here, ways, known, tells):
            return Difference(here[0].group or "", seq, _sides(here, lambda span: ways[span]), False)
    return None


def _stands_in(span: Span) -> bool:
    """Whether ``Join`` makes a call in place of one for which this rank has no data: it pairs with the library's."""
    return (span.via or "").startswith("Join.")


class _Ways(dict):
    """Cache of the call path of each call."""

    def __getitem__(self, span: Span) -> Way:
        found = self.get(id(span))
        if found is None:
            found = self[id(span)] = way(span)
        return found


def _elsewhere(span: Span, other: Span) -> bool:
    return (span.line, span.file, span.callers) != (other.line, other.file, other.callers)


def _any_pair(by_rank: dict, here: list[Span], ways: _Ways, known: dict, tells) -> bool:
    first = here[0]
    others = {ways[span]: span for span in here}
    others.pop(ways[first])
    return any(tells(by_rank[first.rank], by_rank[other.rank], first, other, ways, known) for other in others.values())


def _certain(one: dict[int, Span], two: dict[int, Span], a: Span, b: Span, ways: _Ways, known: dict) -> bool:
    """Whether both call paths occur elsewhere paired with themselves, which shows that they do not belong together."""
    agreed = _agreed(one, two, a, b, ways, known)
    return ways[a] in agreed and ways[b] in agreed


def _likely(one: dict[int, Span], two: dict[int, Span], a: Span, b: Span, ways: _Ways, known: dict) -> bool:
    """Whether ``_certain`` holds, or the ranks are out of step or stuck and one of the two paths occurs on both."""
    if _certain(one, two, a, b, ways, known):
        return True
    mine, theirs = ({ways[span] for span in order.values()} for order in (one, two))
    shared = ways[a] in theirs or ways[b] in mine
    return shared and (_out_of_step(one, two) or _broken(a, b)) and not _take_turns(one, two, a, b, ways)


def _broken(a: Span, b: Span) -> bool:
    """Whether two paired calls failed, or did not end, on both ranks."""
    return all(span.end is None or span.error for span in (a, b))


def _out_of_step(one: dict[int, Span], two: dict[int, Span]) -> bool:
    return next(reversed(one), 0) != next(reversed(two), 0) or any(
        _kind(one[seq]) != _kind(two[seq]) for seq in one.keys() & two.keys()
    )


def _take_turns(one: dict, two: dict, a: Span, b: Span, ways: _Ways) -> bool:
    """Whether the two lines are also paired the other way round, as in an ``if`` whose branches alternate."""
    swapped = ways[b], ways[a]
    return any((ways[one[seq]], ways[two[seq]]) == swapped for seq in one.keys() & two.keys())


def _agreed(one: dict, two: dict, a: Span, b: Span, ways: _Ways, known: dict) -> set[Way]:
    """The call paths that were paired with themselves on these two ranks."""
    pair = (a.rank, b.rank)
    if pair not in known:
        known[pair] = {ways[s] for seq, s in one.items() if seq in two and ways[two[seq]] == ways[s]}
    return known[pair]


def _kind(span: Span) -> tuple:
    return span.name, span.ranks


def _sides(spans: list[Span], key) -> tuple[tuple[Span, ...], ...]:
    sides: dict[object, list[Span]] = {}
    for span in sorted(spans, key=lambda span: span.rank):
        sides.setdefault(key(span), []).append(span)
    return tuple(map(tuple, sides.values()))
