"""Sentences about how calls of several ranks relate: differing calls, mismatched arguments, and wait cycles."""

from barrier_lab.diagnose.first_difference import Difference, unlike
from barrier_lab.diagnose.meetings import Calls
from barrier_lab.diagnose.places import at, path, site, spot
from barrier_lab.diagnose.rank_state import counted, needed, on_group
from barrier_lab.diagnose.waits import Wait
from barrier_lab.english import listed, ordinal, who
from barrier_lab.trace.model import Span, Trace


def first_difference(found: Calls, stray: Difference, first: bool = True) -> str:
    """Describe the first calls of a group that were paired although they are not the same call."""
    spans = [side[0] for side in stray.sides]
    where = places(spans)
    parts = [_side(side, place, spans) for side, place in zip(stray.sides[:4], where, strict=False)]
    before = _before(found, stray)
    lead = f"{f'After {before}, the' if before else 'The'} ranks' calls {'first ' if first else ''}differ"
    which = "collective" if spans[0].kind == "collective" else "call that makes a group"
    paired = "these were paired, and they are different collectives" if stray.kinds else "these were paired"
    if spans[0].kind == "group":
        paired = "these were paired, and they make different groups" if stray.kinds else "these were paired"
    absent = _never_called(found, stray) if not stray.kinds else ""
    return f"{lead} at the {ordinal(stray.seq)} {which}{on_group(spans[0].on)}: {listed(parts)}; {paired}{absent}."


def _side(side: tuple[Span, ...], place: str, all_sides: list[Span]) -> str:
    span = side[0]
    members = f" of {who(span.ranks)}" if span.ranks and len({other.ranks for other in all_sides}) > 1 else ""
    via = f" made by {span.via}" if span.via else ""
    return f"{span.name}{members}{via}{place} on {who(other.rank for other in side)}"


def _before(found: Calls, stray: Difference) -> str:
    """The calls before a difference in kind, which a reader may not have counted."""
    if not stray.kinds or stray.sides[0][0].kind == "group":
        return ""
    first = stray.sides[0][0]
    before = [span for span in found[stray.group][first.rank].values() if (span.seq or 0) < stray.seq]
    kinds = {span.name for span in before}
    return counted(before) if len(kinds) < 4 and 0 < len(before) == stray.seq - 1 else ""


def _never_called(found: Calls, stray: Difference) -> str:
    """A clause naming a rank that never made the other's call, if there is one."""
    one, two = stray.sides[0][0], stray.sides[-1][0]
    for mine, other in ((one, two), (two, one)):
        order = found[stray.group][other.rank]
        theirs = {(span.file, span.line) for span in order.values()}
        if mine.file and len(order) == next(reversed(order)) and (mine.file, mine.line) not in theirs:
            return f" (rank {other.rank} had never called {mine.name} from {spot(mine)})"
    return ""


def places(spans: list[Span]) -> list[str]:
    """The line of each call, with the caller in which calls from the same line differ."""
    lines = {(span.file, span.line) for span in spans}
    if len(lines) == len(spans):
        return [at(span) for span in spans]
    found = []
    for span in spans:
        alike = [other for other in spans if (other.file, other.line) == (span.file, span.line) and other is not span]
        depth = max((_common(span, other) for other in alike), default=-1) + 1
        found.append(path(span, span.callers[depth : depth + 1]))
    return found


def _common(span: Span, other: Span) -> int:
    """Index of the last of the nearest callers that two calls share; -1 if they share none."""
    pairs = zip(span.callers, other.callers, strict=False)
    count = 0
    for mine, theirs in pairs:
        if (mine.file, mine.line) != (theirs.file, theirs.line):
            break
        count += 1
    return count - 1


def brought(spans: list[Span]) -> list[str]:
    """Describe arguments that differ between paired calls: sizes, types, reduce operations, roots."""
    said = []
    lines = len({spot(span) for span in spans}) > 1
    for what in unlike(spans):
        values: dict[str, list[int]] = {}
        for span in spans:
            values.setdefault(f"{_value(what, span)}{at(span) if lines else ''}", []).append(span.rank)
        parts = listed(f"{value} on {who(ranks)}" for value, ranks in values.items())
        seq = f"the {ordinal(spans[0].seq)} collective{on_group(spans[0].on)}, " if spans[0].seq else ""
        plural = {"root": f"{_root(spans[0])[0]}s"}.get(what, f"{what}s")
        said.append(f"In {seq}{spans[0].name}{'' if lines else at(spans[0])}, the {plural} differ: {parts}.")
    return [*said[:2], *_splits(spans)[:1]]


def _splits(spans: list[Span]) -> list[str]:
    """Describe all_to_all splits that one rank sends and the other does not expect."""
    said = []
    order = sorted(spans, key=lambda span: span.rank)  # the default order of ranks in a group
    for i, source in enumerate(order):
        for j, target in enumerate(order):
            if len(source.sends) == len(target.takes) == len(order) and source.sends[j] != target.takes[i]:
                counts = f"{source.sends[j]} to rank {target.rank}{at(source)}, which expects {target.takes[i]}"
                said.append(f"In {source.name}, the splits differ: rank {source.rank} sends {counts}.")
    return said


def _root(span: Span) -> tuple[str, str]:
    """The role of a collective's root rank, and the name of the argument."""
    return ("source", "src") if span.name in ("broadcast", "scatter") else ("destination", "dst")


def _value(what: str, span: Span) -> str:
    if what == "root":
        return f"{_root(span)[1]}={span.root}"
    return str(span.reduce if what == "reduce operation" else span.tensor)


def cycle(held: list[Wait]) -> tuple[list[str], set[int]]:
    """Find ranks that wait for each other in a cycle, each for a call of the next.  Returns sentences and the ranks."""
    by_rank: dict[int, list[Wait]] = {}
    for wait in held:
        if wait.awaited and wait.held is not None:
            by_rank.setdefault(wait.rank, []).append(wait)
    ring = _shortest_cycle(by_rank)
    if not ring:
        return [], set()
    links = []
    for here, after in zip(ring, [*ring[1:], ring[0]], strict=True):
        wait = next(wait for wait in by_rank[here] if after in wait.awaited)
        links.append(f"rank {here} for rank {after} to call {_needed_call(wait)}")
    how = "wait for each other" if len(ring) == 2 else "wait for each other in a cycle"
    return [f"{who(ring).capitalize()} {how}: {listed(links)}."], set(ring)


def _needed_call(wait: Wait) -> str:
    call = wait.call
    return needed(call) if call.kind == "p2p" else f"{call.name}{on_group(call.on)}"


def _shortest_cycle(by_rank: dict[int, list[Wait]]) -> list[int]:
    """The ranks of a shortest cycle, starting with the lowest; empty if there is no cycle."""
    after = {rank: {n for wait in waits for n in wait.awaited if n in by_rank} for rank, waits in by_rank.items()}
    best: list[int] = []
    for start in after:
        ways = [[start]]
        seen: set[int] = set()
        while ways and not (best and len(ways[0]) >= len(best)):
            way = ways.pop(0)
            if start in after[way[-1]]:
                best = way
                break
            for rank in sorted(after[way[-1]] - seen - {start}):
                seen.add(rank)
                ways.append([*way, rank])
    return best


def silence(trace: Trace) -> list[str]:
    """A sentence if no rank called a collective although there were several ranks."""
    kinds = {span.kind for rank in trace.ranks for span in rank.spans}
    if trace.world_size == 1 or "collective" in kinds or not all(rank.started for rank in trace.ranks):
        return []
    return ["No rank called a collective."]


def absentees(trace: Trace, held: list[Wait]) -> list[str]:
    """Describe a wait for ranks that the script expects and that do not exist, or have not come, in this run."""
    for wait in held:
        beyond = any(rank >= trace.world_size for rank in wait.group)
        if wait.call.kind == "group" and (beyond or not all(trace.ranks[rank].started for rank in wait.group)):
            arrived = sum(w.call.name == wait.call.name for w in held)
            backend = f" on {trace.backend}" if trace.backend else ""
            count = f"{len(wait.group)} ranks were expected in {wait.call.name}{site(wait.call)}{backend}"
            return [f"{count}, and {arrived} arrived{f': this run has only {trace.world_size}' if beyond else ''}."]
    return []
