"""The calls that a rank's trace no longer holds (see ``recording.history``): how many, and where two ranks differed."""

import base64
import time
import zlib
from array import array
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from barrier_lab.trace.events import read_events, spans
from barrier_lab.trace.model import Rank, Span

AROUND = 400  # calls on each side of a difference that are restored


@dataclass(slots=True)
class Dropped:
    """The dropped calls of one rank."""

    examples: dict[int, Span] = field(default_factory=dict)  # a call of each kind
    counts: Counter = field(default_factory=Counter)  # kind -> number of dropped calls
    orders: dict[str, tuple[int, array]] = field(default_factory=dict)  # group -> seq of its first call, kinds in order


def read_pieces(path: Path) -> list[dict]:
    """The events of a trace and, if its oldest ones were dropped, of the piece before, each mark once."""
    old = path.with_suffix(".old.json")
    for _ in range(20):
        earlier = read_events(old) if old.exists() else []
        latest = read_events(path)
        if not earlier and not _number(latest):
            return latest
        if _number(latest) == _number(earlier) + 1:
            break
        time.sleep(0.02)  # a new piece was begun meanwhile
    marks = [event for event in latest if event["ph"] in "iM"]
    return [*marks, *(event for event in [*earlier, *latest] if event["ph"] not in "iM")]


def _number(events: list[dict]) -> int:
    """The number of a piece: 0 for the first one."""
    return next((event["args"]["number"] for event in events if event["name"] == "piece" and event["ph"] == "M"), 0)


def read_dropped(rank: int, events: list[dict]) -> Dropped:
    """What the events say about dropped calls."""
    found = Dropped()
    marks = [event for event in events if event.get("cat") == "history"]
    dropped = next((event["args"] for event in marks if event["name"] == "dropped"), None)
    if dropped is None:
        return found
    kinds = [event["args"] for event in marks if event["name"] == "kind"]
    context = [event for event in events if event.get("cat") == "path" or event["name"] == "thread_name"]
    for kind in kinds:
        span = found.examples[kind["number"]] = spans(rank, [*context, kind["example"]], start=0.0)[0]
        span.end = span.begin
    found.counts.update({int(number): count for number, count in dropped["counts"].items() if count})
    for group, order in dropped["orders"].items():
        compressed = base64.b64decode(order["kinds"])  # a stream without an end
        found.orders[group] = order["first"], array("H", zlib.decompressobj().decompress(compressed))
    return found


def restore(ranks: list[Rank], dropped: list[Dropped]) -> None:
    """Set ``dropped`` and ``earlier`` of the ranks: counts by kind, and the calls around the first difference."""
    for rank, lost in zip(ranks, dropped, strict=True):
        rank.dropped = [(lost.examples[n], count) for n, count in lost.counts.items() if n in lost.examples]
    for group in {group for lost in dropped for group in lost.orders}:
        numbers: dict[tuple, int] = {}
        orders = [_order(rank, lost, group, numbers) for rank, lost in zip(ranks, dropped, strict=True)]
        place = _first_difference([order for order in orders if order])
        for rank, lost in zip(ranks, dropped, strict=True):
            if place is not None and group in lost.orders:
                rank.earlier += _around(lost, group, place)


def _order(rank: Rank, lost: Dropped, group: str, numbers: dict[tuple, int]) -> array:
    """All calls of a rank on a group, as numbers that mean the same on every rank."""
    found = array("L")
    translated = {n: numbers.setdefault(_kind(span), len(numbers) + 1) for n, span in lost.examples.items()}
    if group in lost.orders:
        found.extend(translated.get(n, 0) for n in lost.orders[group][1])
    kept = [span for span in rank.spans if span.group == group and span.seq is not None and span.seq > len(found)]
    found.extend(numbers.setdefault(_kind(s), len(numbers) + 1) for s in sorted(kept, key=lambda span: span.seq or 0))
    return found


def _kind(span: Span) -> tuple:
    return (span.name, span.ranks, span.file, span.line, span.callers)


def _first_difference(orders: list[array]) -> int | None:
    """Index of the first place at which two orders differ; None if one is the beginning of the other, for all."""
    found = None
    for other in orders[1:]:
        common = min(len(orders[0]), len(other))
        if orders[0][:common] != other[:common]:
            place = next(i for i in range(common) if orders[0][i] != other[i])
            found = place if found is None else min(found, place)
    return found


def _around(lost: Dropped, group: str, place: int) -> list[Span]:
    first, kinds = lost.orders[group]
    begin = max(place - AROUND, 0)
    window = enumerate(kinds[begin : place + AROUND], first + begin)
    return [replace(lost.examples[kind], seq=seq, op=None) for seq, kind in window if kind in lost.examples]
