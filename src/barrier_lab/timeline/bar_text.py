"""Texts for the bars of a timeline: on them, next to them, and as tooltips."""

from dataclasses import dataclass, field

from barrier_lab.diagnose.durations import BRIEF, clock, duration
from barrier_lab.diagnose.ends import is_alive
from barrier_lab.diagnose.waits import handled_call
from barrier_lab.timeline.releases import BARRIERS, Call, call_of, failing, spot, together
from barrier_lab.trace.model import Rank, Span, Trace

Piece = tuple[float, float, Span | None]  # begin, end, call (None: working outside any call)


@dataclass(slots=True)
class Bar:
    """One drawn interval of a rank."""

    begin: float
    end: float
    look: str  # "work", "barrier", "collective", "p2p", "wait", "many" or "flight"
    title: str  # tooltip
    name: str  # "barrier 2 (:21)", "sleeps", "works"
    words: list[str] = field(default_factory=list)  # texts for the bar, longest first
    calls: list[Call] = field(default_factory=list)  # calls that it represents, without those in flight
    flag: list[str] = field(default_factory=list)  # texts above it if none fits on it, longest first
    open: bool = False  # not ended when the recording stopped
    stuck: bool = False  # … and the rank was blocked in it
    error: bool = False  # ended by an exception
    thread: str | None = None  # thread that made the call; None for the main thread
    circumstance: str = ""  # ", while handling ValueError: …"


def is_call(piece: Piece) -> bool:
    """Whether a piece is a call that is drawn as such: any except a sleep."""
    return piece[2] is not None and piece[2].kind != "sleep"


def bar_of(trace: Trace, rank: Rank, run: list[Piece], ordinal: dict[int, int], end: float) -> Bar:
    """The bar for a run of pieces: a single piece, consecutive sleeps, or short pieces with calls among them."""
    spans = [span for _, _, span in run if span is not None and span.kind != "sleep"]
    if len(spans) > 1:
        return _many(trace, rank, run, spans, ordinal)
    if len(run) > 1 and not spans:
        return _sleeps(trace, rank, run)
    begin, stop, span = next((p for p in run if is_call(p)), run[0])
    if span is not None:
        return call_bar(trace, span, ordinal, end, flight=False)
    bar = Bar(
        begin,
        stop,
        "work",
        f"rank {rank.rank} works for {duration(stop - begin)}, in no call{_from_to(begin, stop)}",
        "works",
    )
    bar.words = [f"works {duration(stop - begin)}", "works"]
    if stop >= end and is_alive(rank):
        bar.open = True
        seen = spot(rank.stuck_at, trace.script) if rank.stuck_at else ""
        bar.name = f"works, last seen at {seen}," if seen else "works"
        at_last = [f"works, last seen at {seen}; {_stopped(trace)}", f"works, last seen at {seen}"] if seen else []
        bar.words = [*at_last, f"works; {_stopped(trace)}", "works"]
        bar.title = f"rank {rank.rank} {bar.name.rstrip(',')}, in no call, from {exact(begin)}; {_stopped(trace)}"
        if rank.stuck_in:  # it is not recorded since when
            place = spot(rank.stuck_at, trace.script) if rank.stuck_at else ""
            bar.name = f"works, then is in {rank.stuck_in}{f' ({place})' if place else ''}"
            bar.words = [f"{bar.name}; {_stopped(trace)}", bar.name, f"… in {rank.stuck_in}", "works"]
            bar.title = f"rank {rank.rank} {bar.name}, from {exact(begin)}; {_stopped(trace)}"
    return bar


def _many(trace: Trace, rank: Rank, run: list[Piece], spans: list[Span], ordinal: dict[int, int]) -> Bar:
    begin, stop = run[0][0], run[-1][1]
    inside = duration(sum(e - b for b, e, span in run if is_call((b, e, span))))
    names = {s.name for s in spans}
    count = f"{len(spans):,} × {names.pop()}" if len(names) == 1 else f"{len(spans):,} calls"
    title = f"rank {rank.rank}: {count}, together {inside}{_from_to(begin, stop)}"
    calls = [call_of(trace, span, ordinal) for span in spans]
    named, plain = (failing(text, sum(s.error is not None for s in spans)) for text in together(calls))
    words = [f"{named}, {inside} in all", named, plain, count]
    bar = Bar(begin, stop, "many", title, words[0], words, calls, words)
    bar.error = any(s.error for s in spans)
    return bar


def call_bar(trace: Trace, span: Span, ordinal: dict[int, int], end: float, flight: bool) -> Bar:
    """The bar of one call.  ``flight``: drawn alongside the rank's bars."""
    begin, stop = max(span.begin, 0.0), max(_stop(span, end, flight), span.begin, 0.0)
    if span.kind == "sleep":
        bar = _sleep(trace, span, begin, stop)
        bar.thread = span.thread
        return bar
    call = call_of(trace, span, ordinal)
    named, name = together([call])
    if span.kind == "wait" and (target := _target(trace, span, ordinal)):
        named, name = named.replace(name, f"wait for {target}"), f"wait for {target}"
    place = call[3]
    took = duration(stop - span.begin)
    look = "flight" if flight else "barrier" if span.name in BARRIERS else _LOOKS.get(span.kind, span.kind)
    where = f" in thread {span.thread}" if span.thread else ""
    bar = Bar(begin, stop, look, f"rank {span.rank}: {named}{where}, {took}{_from_to(span.begin, stop)}", named)
    bar.thread = span.thread
    if span.handling:
        bar.circumstance = f", while handling {span.handling}"
        bar.title += bar.circumstance
    if flight:
        verb = "in flight" if not span.blocked else where.strip() or "on another thread"
        bar.words = [f"{named} {verb}", named, name]
    elif span.kind == "wait":
        target = _target(trace, span, ordinal) or "a handle"
        bar.words = [
            f"waits {took} for {target} ({place})" if place else f"waits {took} for {target}",
            f"{named}: {took}",
            named,
        ]
    elif span.name in BARRIERS:
        bar.words = [f"waits {took} in {named}", f"{named}: {took}", named]
    else:
        bar.words = [f"{took} in {named}", named]
    if not flight:
        bar.calls = [call]
        bar.flag = [f"{named} takes {took}", named, name]
    if span.error:
        short = span.error.partition(":")[0]
        bar.error = True
        fails = f"{named} fails after {took}"
        bar.words = [f"{bar.words[0]}, then {short}", fails, *(bar.words if flight else [])]
        bar.flag = [fails, f"{named} fails", *bar.flag[1:]]
        bar.title += f"; ended by {span.error}"
    if span.end is None:
        _leave_open(trace, span, bar, named)
    return bar


_LOOKS = {"group": "collective"}  # in both, ranks wait for each other


def _target(trace: Trace, wait: Span, ordinal: dict[int, int]) -> str:
    """The name of the call that a wait is for, as in the figure; empty if not recorded."""
    call = handled_call(trace.ranks[wait.rank], wait)
    return "" if call is None else together([call_of(trace, call, ordinal)])[1]


def _stop(span: Span, end: float, flight: bool) -> float:
    """Where a bar ends: at most at the end of its rank, except for calls in flight that were not waited for."""
    if span.end is None:
        return end
    return span.end if flight and not span.blocked else min(span.end, end)


def _leave_open(trace: Trace, span: Span, bar: Bar, named: str) -> None:
    """Set the texts of a call that had not ended when the recording stopped."""
    rank = trace.ranks[span.rank]
    if not is_alive(rank):
        bar.title = f"rank {span.rank}: {named} from {exact(span.begin)}; it had not ended when the rank did"
        bar.words = [f"{named}, not complete", named] if bar.look == "flight" else [named]
        bar.flag = bar.flag[1:]
        bar.open = bar.look == "flight"
        return
    bar.open = True
    stopped = _stopped(trace)
    if bar.look == "flight":
        how, end = ("in flight", "not complete") if not span.blocked else (f"in thread {span.thread}", "did not return")
        bar.words = [f"{named} {how}, {end}", *bar.words]
        bar.title = f"rank {span.rank}: {named} {how} from {exact(span.begin)}; {end}, {stopped}"
        return
    bar.stuck = True
    short = f"{named} did not return"
    bar.words = [f"{short}; {stopped}", short, named]
    bar.flag = [f"{short}; {stopped}", short, *bar.flag[1:]]
    bar.title = f"rank {span.rank}: {named} from {exact(span.begin)} did not return; {stopped}"


def _sleep(trace: Trace, span: Span, begin: float, stop: float) -> Bar:
    place = spot(span, trace.script)
    named = f" ({place})" if place else ""
    title = f"rank {span.rank} sleeps {duration(stop - begin)}{named}{_from_to(begin, stop)}"
    bar = Bar(begin, stop, "work", title, "sleeps", [f"sleeps {duration(stop - begin)}", "sleeps"])
    if span.end is None and not is_alive(trace.ranks[span.rank]):
        bar.words = ["sleeps"]
        bar.title = f"rank {span.rank} sleeps{named} from {exact(begin)}; it was asleep when it ended"
    elif span.end is None:
        bar.open = True
        bar.words = [f"sleeps{named}; {_stopped(trace)}", "sleeps"]
        bar.title = f"rank {span.rank} sleeps{named} from {exact(begin)}; {_stopped(trace)}"
    return bar


def _sleeps(trace: Trace, rank: Rank, run: list[Piece]) -> Bar:
    """The bar of consecutive sleeps from one line, each too short for a label."""
    begin, stop, span = run[0][0], run[-1][1], run[0][2]
    took = {duration(e - b) for b, e, _ in run}
    place = f" ({spot(span, trace.script)})" if span and spot(span, trace.script) else ""
    count = f"{len(run)} × sleeps"
    long = f"{count} {took.pop()}" if len(took) == 1 else f"{count}, {duration(sum(e - b for b, e, _ in run))} in all"
    bar = Bar(begin, stop, "work", f"rank {rank.rank} {long}{place}{_from_to(begin, stop)}", count)
    bar.words = [f"{long}{place}", long, count]
    return bar


def _stopped(trace: Trace) -> str:
    if trace.stopped is not None:
        return f"stopped at {clock(trace.stopped)}"
    return f"the recording ends at {clock(trace.end)}"


def _from_to(begin: float, end: float) -> str:
    return f", from {exact(begin)} to {exact(end)}"


def exact(t: float) -> str:
    """Format a time with high precision: "1.003 s", "4.21 ms"."""
    return f"{t * 1e3:.2f} ms" if abs(t) < BRIEF else f"{t:.3f} s"
