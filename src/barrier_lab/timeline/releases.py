"""The calls of a timeline: their names and ordinals, released barriers, and mismatched calls."""

from dataclasses import dataclass
from pathlib import Path

from barrier_lab.diagnose.between_ranks import places
from barrier_lab.diagnose.first_difference import differences, shifts
from barrier_lab.diagnose.meetings import Calls, by_place, calls, members, other_side, places_in_series, with_earlier
from barrier_lab.trace.model import Place, Span, Trace

BARRIERS = ("barrier", "monitored_barrier")
Call = tuple[str, int, str, str]  # name, ordinal, " of its group" or " to its peer", line


@dataclass(slots=True)
class Release:
    """The time at which the first rank returned from a barrier that every rank of the group had reached."""

    t: float
    name: str  # "barrier"
    ordinal: int  # 1 for the first call of this name on this group
    of: str  # " of its group"; empty for the default group
    ranks: list[int]


@dataclass(slots=True)
class Mismatch:
    """Calls that were paired by their position in each rank's order although they are not the same call."""

    t: float  # when the last of them was called
    seq: int
    group: str
    what: str  # "collectives" or "calls of new_group", …
    kinds: dict[str, list[int]]  # name, with its line if the names are equal -> ranks that called it


def ordinals(trace: Trace) -> dict[int, int]:
    """The ordinal of each call within its rank's series, by ``id(span)``."""
    return {call: ordinal for rank in trace.ranks for call, ordinal in places_in_series(rank).items()}


def called(name: str, ordinal: int | str, of: str) -> str:
    """The name of a call in the figure: "barrier 2", "all_reduce 1 of ranks 0 and 2", "send 1 to rank 3"."""
    return f"{name} {ordinal}{of}"


def _of(span: Span) -> str:
    """The group or peer of a call, to be appended to its name."""
    return f" of {span.on.removeprefix('the group of ')}" if span.on and span.kind == "collective" else other_side(span)


def spot(span: Span | Place, script: str | None) -> str:
    """The location of a call: ":21" in the experiment's own file, "helpers.py:7" elsewhere, empty if unknown."""
    if not span.file or not span.line:
        return ""
    own = script is None or Path(span.file).name == Path(script).name
    return f":{span.line}" if own else f"{Path(span.file).name}:{span.line}"


def call_of(trace: Trace, span: Span, ordinal: dict[int, int]) -> Call:
    """The parts of a call's name."""
    return span.name, ordinal[id(span)], _of(span), spot(span, trace.script)


def together(calls: list[Call]) -> tuple[str, str]:
    """One name for consecutive calls, with and without their line: "barriers 1–3 (:21)"."""
    names, groups, places = ({call[i] for call in calls} for i in (0, 2, 3))
    name, first, group, _ = calls[0]
    several = f"{name}s" if name in BARRIERS else name
    if len(calls) == 1:
        what = called(name, first, group)
    elif len(names) > 1:
        what = f"{len(calls):,} calls"
    elif len(groups) == 1 and calls[-1][1] - first == len(calls) - 1:
        what = called(several, f"{first}–{calls[-1][1]}", group)
    else:
        what = f"{len(calls):,} {several}" if several != name else f"{len(calls):,} × {name}"
    where = places.pop() if len(places) == 1 else ""
    return f"{what} ({where})" if where else what, what


def failing(text: str, count: int) -> str:
    """Append the number of failed calls to the name of several calls."""
    return f"{text}, {count} {'fails' if count == 1 else 'fail'}" if count else text


def releases(trace: Trace, ordinal: dict[int, int]) -> tuple[list[Release], list[Mismatch]]:
    """The released barriers and the mismatched calls of a run, each sorted by time."""
    released, mismatched = [], []
    found = calls(trace)
    for group, by_rank in found.items():
        size = len(members(trace, found, group))
        for seq, spans in by_place(by_rank).items():
            name = spans[0].name
            if any(span.name != name for span in spans):
                kinds: dict[str, list[int]] = {}
                for span in spans:
                    kinds.setdefault(span.name, []).append(span.rank)
                mismatched.append(Mismatch(max(s.begin for s in spans), seq, group, _what(spans[0]), kinds))
            elif len(spans) == size and name in BARRIERS:
                ends = [span.end for span in spans if span.end is not None and not span.error]
                if len(ends) == size:
                    t = max(min(ends), *(span.begin for span in spans))
                    released.append(Release(t, name, ordinal[id(spans[0])], _of(spans[0]), [s.rank for s in spans]))
    mismatched += _other_lines(trace, found)
    return sorted(released, key=lambda r: r.t), sorted(mismatched, key=lambda m: m.t)


def _what(span: Span) -> str:
    return "collectives" if span.kind == "collective" else f"calls of {span.name}"


def _brief_places(trace: Trace, spans: list[Span]) -> list[str]:
    """The line of each call as in the figure: " (:18)", or " (:7 from :18)" if only the caller differs."""
    script = Path(trace.script or "").name
    brief = [where.replace(", called from ", " from ") for where in places(spans)]
    return [where.replace(f"{script}:", ":") if script else where for where in brief]


def _other_lines(trace: Trace, found: Calls) -> list[Mismatch]:
    """The first calls of each group that were paired although their call paths differ."""
    history = with_earlier(trace, found)
    strays = differences(history) if trace.outcome == "completed" else shifts(history)
    marks = []
    for stray in strays:
        if not stray.kinds:
            spans = [side[0] for side in stray.sides]
            names = [f"{span.name}{where}" for span, where in zip(spans, _brief_places(trace, spans), strict=True)]
            kinds = {name: [span.rank for span in side] for name, side in zip(names, stray.sides, strict=True)}
            t = max(span.begin for side in stray.sides for span in side)
            marks.append(Mismatch(t, stray.seq, stray.group, _what(spans[0]), kinds))
    return marks
