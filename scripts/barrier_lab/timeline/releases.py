"""What a timeline says of calls: their names and ordinals, when barriers were released, which calls do not match."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from barrier_lab.diagnose.pairing import calls, members
from barrier_lab.trace import Span, Trace

BARRIERS = ("barrier", "monitored_barrier")


@dataclass(slots=True)
class Release:
    """The moment at which the last rank came back from a barrier that every rank of the group had reached."""

    t: float
    name: str  # "barrier"
    ordinal: int  # 1 for the first call of this name on this group
    group: str
    ranks: list[int]


@dataclass(slots=True)
class Mismatch:
    """Calls that pair by their place in each rank's order although they are of different kinds."""

    t: float  # when the last of them was called
    seq: int
    group: str
    kinds: dict[str, list[int]]  # name -> ranks that called it


def ordinals(trace: Trace) -> dict[int, int]:
    """The ordinal of every call among its rank's calls of the same name on the same group, by ``id(span)``."""
    found = {}
    for rank in trace.ranks:
        counts: Counter = Counter()
        for span in rank.spans:
            if span.kind != "sleep":
                key = (span.name, span.group)
                counts[key] += 1
                found[id(span)] = counts[key]
    return found


def called(name: str, ordinal: int | str, group: str | None) -> str:
    """A call as the figure names it: "barrier 2", "all_reduce 1 of group 3"."""
    return f"{name} {ordinal}" if group in (None, "default") else f"{name} {ordinal} of group {group}"


def spot(span: Span, script: str | None) -> str:
    """Where a call stands: ":21" in the experiment's own file, "helpers.py:7" elsewhere, nothing where unknown."""
    if not span.file or not span.line:
        return ""
    own = script is None or Path(span.file).name == Path(script).name
    return f":{span.line}" if own else f"{Path(span.file).name}:{span.line}"


def releases(trace: Trace, ordinal: dict[int, int]) -> tuple[list[Release], list[Mismatch]]:
    """The barriers of a run that were released, in order, and the calls that cannot pair."""
    released, mismatched = [], []
    found = calls(trace)
    for group, by_rank in found.items():
        size = len(members(trace, found, group))
        meetings: dict[int, list[Span]] = {}
        for order in by_rank.values():
            for seq, span in order.items():
                meetings.setdefault(seq, []).append(span)
        for seq, spans in meetings.items():
            name = spans[0].name
            if any(span.name != name for span in spans):
                kinds: dict[str, list[int]] = {}
                for span in spans:
                    kinds.setdefault(span.name, []).append(span.rank)
                mismatched.append(Mismatch(max(s.begin for s in spans), seq, group, kinds))
            elif len(spans) == size and name in BARRIERS:
                ends = [span.end for span in spans if span.end is not None and not span.error]
                if len(ends) == size:
                    released.append(Release(max(ends), name, ordinal[id(spans[0])], group, [s.rank for s in spans]))
    return sorted(released, key=lambda r: r.t), sorted(mismatched, key=lambda m: m.t)
