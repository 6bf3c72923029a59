"""What the ranks of a trace did, as bars: one row a rank, words for every bar, bars too short to see merged.

No drawing here: times are seconds, words are given longest first, and the drawing takes the longest that fits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from .releases import BARRIERS, called, spot
from .trace import Output, Rank, Span, Trace
from .words import summary

MOST = 6000  # bars in one figure: more make a page slow and show nothing that merged bars do not
Piece = tuple[float, float, Span | None]  # begin, end, and the call; None: the rank works


@dataclass(slots=True)
class Bar:
    """One interval of a rank as it is drawn."""

    begin: float
    end: float
    look: str  # "work", "barrier", "collective", "p2p", "wait", "many" or "flight"
    title: str  # for hovering
    name: str  # "barrier 2 (:21)", "sleeps", "works"
    words: list[str] = field(default_factory=list)  # to stand on the bar, longest first
    short: str = ""  # the call without its line: the least that names it
    flag: list[str] = field(default_factory=list)  # to stand beside a mark where nothing fits on the bar
    open: bool = False  # it had not ended when the recording stopped
    stuck: bool = False  # … and the rank was blocked in it
    error: bool = False  # an exception ended it


@dataclass(slots=True)
class Row:
    """All that is drawn of one rank."""

    rank: int
    end: float  # where its bars end
    bars: list[Bar] = field(default_factory=list)
    flights: list[Bar] = field(default_factory=list)  # calls that run beside the rank's own work
    prints: list[tuple[float, str]] = field(default_factory=list)  # moment, text for hovering
    after: list[str] = field(default_factory=list)  # how it ended, to stand behind its last bar, longest first
    bad: bool = False  # it did not end as it should
    raised: bool = False


def seconds(t: float) -> str:
    """A duration in the unit that suits it: "1.20 s", "12 ms", "0.3 ms"."""
    if t >= 99.5:
        return f"{t:.0f} s"
    if t >= 0.0995:
        return f"{t:.2f} s"
    if t < 0.00005:
        return "<0.1 ms"
    return f"{t * 1e3:.0f} ms" if t >= 0.00995 else f"{t * 1e3:.1f} ms"


def rows(trace: Trace, ordinal: dict[int, int], shortest: float) -> list[Row]:
    """One row a rank; what is shorter than ``shortest`` seconds is merged, and more if the figure would grow too large."""
    ends = [_end(trace, rank) for rank in trace.ranks]
    split = [_pieces(rank, end) for rank, end in zip(trace.ranks, ends, strict=True)]
    merged = [_merge(pieces, shortest) for pieces, _ in split]
    while sum(map(len, merged)) > max(MOST, 4 * len(merged)) and shortest < trace.end:
        shortest *= 2
        merged = [_merge(pieces, shortest) for pieces, _ in split]
    found = []
    for rank, end, runs, (_, flights) in zip(trace.ranks, ends, merged, split, strict=True):
        row = Row(rank=rank.rank, end=end)
        row.bars = [_bar(trace, rank, run, ordinal, end) for run in runs]
        row.flights = [_call(trace, span, ordinal, end, flight=True) for span in flights[:200]]
        row.prints = list(_prints(rank, shortest))
        row.after, row.bad = _after(trace, rank, end)
        row.raised = rank.error is not None
        found.append(row)
    return found


def alive(rank: Rank) -> bool:
    """The rank was still there when the run was stopped, or when its files end."""
    return rank.started and rank.ended is None and rank.exit_code is None and rank.signal is None and not rank.error


def _end(trace: Trace, rank: Rank) -> float:
    if alive(rank):
        return max(trace.stopped if trace.stopped is not None else trace.end, 0.0)
    return max(rank.ended if rank.ended is not None else rank.last, 0.0) if rank.started else 0.0


def _pieces(rank: Rank, end: float) -> tuple[list[Piece], list[Span]]:
    """The rank's time from 0 to its end without gap or overlap, and the calls that run beside it."""
    pieces: list[Piece] = []
    flights = []
    t = 0.0
    outer: Span | None = None
    for span in rank.spans:
        begin, stop = max(span.begin, 0.0), end if span.end is None else min(span.end, end)
        if span.end is not None and span.end <= 0.0:
            continue  # before the common start
        if not span.blocked or begin < t - 1e-9:
            # A call within a call of the same line is part of it; another thread's call runs beside it.
            if outer is None or not span.blocked or (span.file, span.line) != (outer.file, outer.line):
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
    """Runs of pieces that are one bar each: a piece that can be seen, a single short call, or many short pieces.

    Work too short to be seen leaves no bar: its neighbours close the gap.
    """
    runs: list[list[Piece]] = []
    short: list[Piece] = []

    def close() -> None:
        while short and not _is_call(short[-1]):
            short.pop()
        if short:
            runs.append(short.copy())
        short.clear()

    for piece in pieces:
        if piece[1] - piece[0] >= shortest or (piece[2] is not None and piece[2].end is None):
            close()
            runs.append([piece])
        elif short or _is_call(piece):
            short.append(piece)
    close()
    return runs


def _is_call(piece: Piece) -> bool:
    return piece[2] is not None and piece[2].kind != "sleep"


def _bar(trace: Trace, rank: Rank, run: list[Piece], ordinal: dict[int, int], end: float) -> Bar:
    spans = [span for _, _, span in run if span is not None and span.kind != "sleep"]
    if len(spans) > 1:
        return _many(rank, run, spans, ordinal)
    begin, stop, span = next((p for p in run if _is_call(p)), run[0])
    if span is not None:
        return _call(trace, span, ordinal, end, flight=False)
    bar = Bar(
        begin,
        stop,
        "work",
        f"rank {rank.rank} works for {seconds(stop - begin)}, in no call{_from_to(begin, stop)}",
        "works",
    )
    bar.words = [f"works {seconds(stop - begin)}", "works"]
    if alive(rank) and stop >= end:
        bar.open = True
        bar.words = [f"works; {_stopped(trace)}", "works"]
        bar.title = f"rank {rank.rank} works, in no call, from {begin:.3f} s; {_stopped(trace)}"
    return bar


def _many(rank: Rank, run: list[Piece], spans: list[Span], ordinal: dict[int, int]) -> Bar:
    begin, stop = run[0][0], run[-1][1]
    inside = sum(e - b for b, e, span in run if span is not None and span.kind != "sleep")
    names = list(dict.fromkeys(s.name for s in spans))
    if len(names) == 1:
        what = f"{names[0]} {ordinal[id(spans[0])]} to {ordinal[id(spans[-1])]}"
        count = f"{len(spans):,} × {names[0]}"
    else:
        what = count = f"{len(spans):,} calls"
    title = f"rank {rank.rank}: {count}, together {seconds(inside)}{_from_to(begin, stop)}"
    lines = {s.line for s in spans if s.line}
    line = f" (:{lines.pop()})" if len(lines) == 1 else ""
    words = [f"{what}{line}, {seconds(inside)} in all", f"{what}{line}", what, count]
    bar = Bar(begin, stop, "many", title, words[0], words, flag=words[1:])
    bar.error = any(s.error for s in spans)
    return bar


def _call(trace: Trace, span: Span, ordinal: dict[int, int], end: float, flight: bool) -> Bar:
    begin, stop = max(span.begin, 0.0), max(end if span.end is None else min(span.end, end), span.begin, 0.0)
    if span.kind == "sleep":
        return _sleep(trace, span, begin, stop)
    name = called(span, ordinal[id(span)])
    place = spot(span, trace.script)
    named = f"{name} ({place})" if place else name
    took = seconds(stop - span.begin)
    look = "flight" if flight else "barrier" if span.name in BARRIERS else span.kind
    bar = Bar(begin, stop, look, f"rank {span.rank}: {named}, {took}{_from_to(span.begin, stop)}", named)
    if flight:
        verb = "in flight" if not span.blocked else "on another thread"
        bar.words = [f"{named} {verb}", named, name]
    elif span.kind == "wait":
        bar.words = [
            f"waits {took} for a handle ({place})" if place else f"waits {took} for a handle",
            f"{named} {took}",
            named,
        ]
    elif span.name in BARRIERS:
        bar.words = [f"waits {took} in {named}", f"{named} {took}", named]
    else:
        bar.words = [f"{took} in {named}", named]
    bar.short = name
    bar.flag = [f"{named} takes {took}", named]
    if span.error:
        short = span.error.partition(":")[0]
        bar.error = True
        bar.words = [f"{bar.words[0]}, then {short}", *bar.words]
        bar.title += f"; ended by {span.error}"
    if span.end is None:
        _leave_open(trace, span, bar, named)
    return bar


def _leave_open(trace: Trace, span: Span, bar: Bar, named: str) -> None:
    """Words of a call that had not ended when the recording stopped."""
    rank = trace.ranks[span.rank]
    if not alive(rank):
        bar.title = f"rank {span.rank}: {named} from {span.begin:.3f} s; it had not ended when the rank did"
        bar.words = [f"{named}, not complete", named] if bar.look == "flight" else [named]
        bar.flag = [named]
        bar.open = bar.look == "flight"
        return
    bar.open = True
    stopped = _stopped(trace)
    if bar.look == "flight":
        bar.words = [f"{named} in flight, not complete", *bar.words]
        bar.title = f"rank {span.rank}: {named} in flight from {span.begin:.3f} s; not complete, {stopped}"
        return
    bar.stuck = True
    short = f"{named} did not return"
    bar.words = [f"{short}; {stopped}", short, named]
    bar.flag = [short, named]
    bar.title = f"rank {span.rank}: {named} from {span.begin:.3f} s did not return; {stopped}"


def _sleep(trace: Trace, span: Span, begin: float, stop: float) -> Bar:
    place = spot(span, trace.script)
    named = f" ({place})" if place else ""
    title = f"rank {span.rank} sleeps {seconds(stop - begin)}{named}{_from_to(begin, stop)}"
    bar = Bar(begin, stop, "work", title, "sleeps", [f"sleeps {seconds(stop - begin)}", "sleeps"])
    if span.end is None and not alive(trace.ranks[span.rank]):
        bar.words = ["sleeps"]
        bar.title = f"rank {span.rank} sleeps{named} from {begin:.3f} s; it was asleep when it ended"
    elif span.end is None:
        bar.open = True
        bar.words = [f"sleeps{named}; {_stopped(trace)}", "sleeps"]
        bar.title = f"rank {span.rank} sleeps{named} from {begin:.3f} s; {_stopped(trace)}"
    return bar


def _stopped(trace: Trace) -> str:
    if trace.stopped is not None:
        return f"stopped at {trace.stopped:.1f} s"
    return f"the recording ends at {trace.end:.1f} s"


def _from_to(begin: float, end: float) -> str:
    return f", from {begin:.3f} s to {end:.3f} s"


def _prints(rank: Rank, apart: float) -> Iterator[tuple[float, str]]:
    """Lines printed closer together than can be seen share a mark."""
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
    return f"rank {rank.rank} prints at {group[0].t:.3f} s: {shown}{more}"


def _after(trace: Trace, rank: Rank, end: float) -> tuple[list[str], bool]:
    """How the rank ended, longest first, and whether that was not as it should be."""
    if rank.signal:
        short = f"killed by {rank.signal}"
        return [f"{short}; last heard of at {seconds(end)}", short], True
    if rank.error:
        short = f"raised {summary(rank.error).partition(':')[0]}"
        return [f"{short} at {seconds(end)}", short], True
    if rank.exit_code:
        return [f"exited at {seconds(end)} (code {rank.exit_code})", f"exited (code {rank.exit_code})"], True
    if not rank.started:
        return ["did not reach the common start"], True
    if rank.ended is not None and end < trace.end:
        return [f"returned at {seconds(end)}", "returned"], False
    return [], False
