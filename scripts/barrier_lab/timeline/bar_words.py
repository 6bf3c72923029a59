"""Words for the bars of a timeline: what stands on them, beside them, and what hovering shows."""

from dataclasses import dataclass, field

from barrier_lab.diagnose.words import summary
from barrier_lab.timeline.releases import BARRIERS, called, spot
from barrier_lab.trace import Rank, Span, Trace

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


def seconds(t: float) -> str:
    """A duration in the unit that suits it: "1.20 s", "12 ms", "0.3 ms"."""
    if t >= 99.5:
        return f"{t:.0f} s"
    if t >= 0.0995:
        return f"{t:.2f} s"
    if t < 0.00005:
        return "<0.1 ms"
    return f"{t * 1e3:.0f} ms" if t >= 0.00995 else f"{t * 1e3:.1f} ms"


def alive(rank: Rank) -> bool:
    """The rank was still there when the run was stopped, or when its files end."""
    return rank.started and rank.ended is None and rank.exit_code is None and rank.signal is None and not rank.error


def is_call(piece: Piece) -> bool:
    """A call that the figure marks: any but a sleep."""
    return piece[2] is not None and piece[2].kind != "sleep"


def bar_of(trace: Trace, rank: Rank, run: list[Piece], ordinal: dict[int, int], end: float) -> Bar:
    """The bar for a run of pieces: one piece, or short ones with a call among them."""
    spans = [span for _, _, span in run if span is not None and span.kind != "sleep"]
    if len(spans) > 1:
        return _many(rank, run, spans, ordinal)
    begin, stop, span = next((p for p in run if is_call(p)), run[0])
    if span is not None:
        return call_bar(trace, span, ordinal, end, flight=False)
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
        plural = "s" if names[0] == "barrier" else ""
        what = f"{names[0]}{plural} {ordinal[id(spans[0])]}–{ordinal[id(spans[-1])]}"
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


def call_bar(trace: Trace, span: Span, ordinal: dict[int, int], end: float, flight: bool) -> Bar:
    """The bar of one call; ``flight``: it runs beside the rank's own work."""
    begin, stop = max(span.begin, 0.0), max(end if span.end is None else min(span.end, end), span.begin, 0.0)
    if span.kind == "sleep":
        return _sleep(trace, span, begin, stop)
    name = called(span.name, ordinal[id(span)], span.group if span.kind == "collective" else None)
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
    bar.flag = [f"{short}; {stopped}", short, named]
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


def ending(trace: Trace, rank: Rank, end: float) -> tuple[list[str], bool]:
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
    if rank.ended is not None and trace.stopped is not None and rank.exit_code is None:
        return [f"returned at {seconds(end)}; its process did not end", "returned; its process did not end"], True
    if rank.ended is not None and end < trace.end:
        return [f"returned at {seconds(end)}", "returned"], False
    return [], False
