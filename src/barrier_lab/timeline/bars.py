"""Convert a trace to bars: one row per rank, with bars that are too short to see merged.

Nothing is drawn here.  Times are seconds; texts are listed longest first, and drawing uses the longest that fits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from barrier_lab.diagnose.durations import duration
from barrier_lab.diagnose.ends import end_of, is_alive
from barrier_lab.diagnose.error_summary import summary
from barrier_lab.timeline.bar_text import Bar, Piece, bar_of, call_bar, exact, is_call
from barrier_lab.trace.model import Output, Rank, Span, Trace

MOST = 6000  # bars per figure; more make a page slow and show nothing that merged bars do not


@dataclass(slots=True)
class Row:
    """Everything drawn for one rank."""

    rank: int
    end: float  # where its bars end
    bars: list[Bar] = field(default_factory=list)
    flights: list[Bar] = field(default_factory=list)  # calls in flight or on other threads, alongside the bars
    prints: list[tuple[float, str]] = field(default_factory=list)  # time, tooltip
    after: list[str] = field(default_factory=list)  # text after the last bar on how it ended, longest first
    bad: bool = False  # it did not end normally
    raised: bool = False


def rows(trace: Trace, ordinal: dict[int, int], shortest: float) -> list[Row]:
    """One row per rank.  Merges pieces shorter than ``shortest`` seconds, more of them if there are too many bars."""
    ends = [_end(trace, rank) for rank in trace.ranks]
    split = [_pieces(rank, end) for rank, end in zip(trace.ranks, ends, strict=True)]
    merged = [_merge(pieces, shortest) for pieces, _ in split]
    while sum(map(len, merged)) > max(MOST, 16 * len(merged)) and shortest < trace.end:
        shortest *= 2
        merged = [_merge(pieces, shortest) for pieces, _ in split]
    found = []
    for rank, end, runs, (_, flights) in zip(trace.ranks, ends, merged, split, strict=True):
        row = Row(rank=rank.rank, end=end)
        row.bars = [bar_of(trace, rank, run, ordinal, end) for run in runs]
        row.flights = [call_bar(trace, span, ordinal, end, flight=True) for span in flights[:200]]
        row.prints = list(_prints(rank, shortest))
        row.after, row.bad = _ending(trace, rank, end)
        row.raised = rank.error is not None
        found.append(row)
    return found


def _end(trace: Trace, rank: Rank) -> float:
    if is_alive(rank):
        return max(trace.stopped if trace.stopped is not None else trace.end, 0.0)
    return max(rank.ended if rank.ended is not None else rank.last, 0.0) if rank.started else 0.0


def _pieces(rank: Rank, end: float) -> tuple[list[Piece], list[Span]]:
    """Split the rank's time from 0 to its end into consecutive pieces; also returns the calls alongside them."""
    pieces: list[Piece] = []
    flights = []
    t = 0.0
    outer: Span | None = None
    for span in rank.spans:
        begin, stop = max(span.begin, 0.0), end if span.end is None else min(span.end, end)
        if span.end is not None and span.end <= 0.0:
            continue  # before the common start
        if not span.blocked or span.thread is not None or begin < t - 1e-9:
            # A nested call from the same line is part of the outer one; a call on another thread runs alongside.
            if (
                span.thread is not None
                or outer is None
                or not span.blocked
                or (span.file, span.line) != (outer.file, outer.line)
            ):
                flights.append(span)
            continue
        if begin > t:
            pieces.append((t, begin, None))
        t, outer = max(stop, begin), span
        pieces.append((begin, t, span))
    if end > t:
        pieces.append((t, end, None))
    return pieces, flights


def _merge(pieces: list[Piece], shortest: float) -> list[list[Piece]]:
    """Group pieces into runs of one bar each: a visible piece, a single short call, or many short pieces.

    Work and sleeps too short to see get no bar; their neighbours close the gap.  Consecutive sleeps from one line share
    a bar if each is too short for a label.
    """
    runs: list[list[Piece]] = []
    short: list[Piece] = []

    def close() -> None:
        while short and not is_call(short[-1]):
            short.pop()
        if short:
            runs.append(short.copy())
        short.clear()

    for piece, after in pairwise([*pieces, None]):
        between = short and after and is_call(after) and after[1] - after[0] < shortest and not is_call(piece)
        # Two short calls with little work between them share a bar: separate ones would need more room.
        least = 3 * shortest if between and is_call(short[-1]) else shortest
        if piece[1] - piece[0] >= least or (piece[2] is not None and piece[2].end is None):
            close()
            last = runs[-1] if runs else None
            if last and piece[2] is None and last[-1][2] is None:
                runs[-1] = [(last[0][0], piece[1], None)]
            elif last and all(_is_short_sleep(p, 20 * shortest) for p in (last[-1], piece)) and _alike(last[-1], piece):
                last.append(piece)
            else:
                runs.append([piece])
        elif short or is_call(piece):
            short.append(piece)
    close()
    return runs or [pieces[:1]] if pieces else []


def _is_short_sleep(piece: Piece, least: float) -> bool:
    return (
        piece[2] is not None and piece[2].kind == "sleep" and piece[2].end is not None and piece[1] - piece[0] < least
    )


def _alike(piece: Piece, other: Piece) -> bool:
    return (piece[2].file, piece[2].line) == (other[2].file, other[2].line)


def _prints(rank: Rank, apart: float) -> Iterator[tuple[float, str]]:
    """Marks for printed lines.  Lines too close together to tell apart share a mark."""
    group: list[Output] = []
    for line in rank.output:
        if line.t < 0:
            continue
        if group and line.t - group[0].t >= apart:
            yield group[0].t, _printed(rank, group)
            group = []
        group.append(line)
    if group:
        yield group[0].t, _printed(rank, group)


def _printed(rank: Rank, group: list[Output]) -> str:
    shown = "\n".join(line.text[:200] for line in group[:6])
    more = f"\n… and {len(group) - 6} lines more" if len(group) > 6 else ""
    return f"rank {rank.rank} prints at {exact(group[0].t)}: {shown}{more}"


def _ending(trace: Trace, rank: Rank, end: float) -> tuple[list[str], bool]:
    """Texts on how the rank ended, longest first, and whether it ended abnormally."""
    match end_of(rank):
        case "killed":
            short = f"killed by {rank.signal}"
            return [f"{short}; last heard of at {duration(end)}", short], True
        case "raised":
            short = f"raised {summary(rank.error or '').partition(':')[0]}"
            return [f"{short} at {duration(end if rank.ended is None else rank.ended)}", short], True
        case "exited":
            return [f"exited at {duration(end)} (code {rank.exit_code})", f"exited (code {rank.exit_code})"], True
        case "unreported":
            return ["no record of it here"], False
        case "vanished":
            return [f"ended without a word after {duration(end)}", "ended without a word"], True
        case "absent":
            return ["did not reach the common start"], True
        case "returned" if trace.stopped is not None and rank.exit_code is None:
            return [f"returned at {duration(end)}; its process did not end", "returned; its process did not end"], True
        case "returned" if end < trace.end:
            caught = ["error caught; "] if any(span.error for span in rank.spans) else []
            return [*(f"{lead}returned at {duration(end)}" for lead in (*caught, "")), "returned"], False
    return [], False
