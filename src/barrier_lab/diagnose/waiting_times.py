"""How long each rank waited for other ranks, in which calls, and for which rank."""

from dataclasses import dataclass

from barrier_lab.diagnose.durations import duration
from barrier_lab.diagnose.meetings import by_place, calls, members
from barrier_lab.diagnose.places import at
from barrier_lab.trace.model import Span, Trace

LEAST = 0.01  # seconds; anything shorter is the call itself, not a wait for another rank


@dataclass(slots=True)
class Waited:
    """The total wait of one rank on one line for one other rank."""

    rank: int
    call: Span  # the first of its waits
    last: Span  # the call of the rank that arrived last, in the same meeting
    seconds: float
    times: int


def waited(trace: Trace) -> list[Waited]:
    """The waits of all ranks, longest first.

    A rank waits in a blocking collective from its own arrival until the last rank of the group arrives.  Returns an
    empty list if the ranks do not share a clock, since this cannot be measured then.
    """
    if not trace.one_clock:
        return []
    found: dict[tuple, Waited] = {}
    by_group = calls(trace)
    for group, by_rank in by_group.items():
        size = len(members(trace, by_group, group))
        for spans in by_place(by_rank).values():
            if len(spans) == size > 1:
                _add(found, spans)
    return sorted(found.values(), key=lambda wait: -wait.seconds)


def _add(found: dict[tuple, Waited], spans: list[Span]) -> None:
    """Add the waits of one meeting, for the rank that arrived last."""
    last = max(spans, key=lambda span: span.begin)
    for span in spans:
        end = last.begin if span.end is None else min(span.end, last.begin)
        if not span.blocked or end - span.begin < LEAST:
            continue
        key = (span.rank, span.name, span.file, span.line, last.rank, last.file, last.line)
        wait = found.setdefault(key, Waited(span.rank, span, last, 0.0, 0))
        wait.seconds += end - span.begin
        wait.times += 1


def table(trace: Trace) -> list[str]:
    """A table with one row per rank: total wait, where most of it, and for which rank.  Empty if no rank waited."""
    waits = waited(trace)
    if not waits:
        return []
    rows = [("rank", "waited", "most of it in", "for")]
    for rank in range(trace.world_size):
        own = [wait for wait in waits if wait.rank == rank]
        total = duration(sum(wait.seconds for wait in own)) if own else "-"
        rows.append((str(rank), total, *(_most(own[0], len(own)) if own else ("", ""))))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    return [
        "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[3]]).rstrip() for row in rows
    ]


def _most(wait: Waited, places: int) -> tuple[str, str]:
    share = f": {duration(wait.seconds)}" if places > 1 else ""
    count = f"{wait.times:,} × " if wait.times > 1 else ""
    where = at(wait.last) if at(wait.last) != at(wait.call) else ""
    return f"{count}{wait.call.name}{at(wait.call)}{share}", f"rank {wait.last.rank}{where}"
