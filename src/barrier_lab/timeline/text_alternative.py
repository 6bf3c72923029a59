"""The timeline in words, for readers who cannot see it."""

from barrier_lab.diagnose.durations import clock, duration
from barrier_lab.diagnose.error_summary import summary
from barrier_lab.english import listed, who
from barrier_lab.english import ordinal as nth
from barrier_lab.timeline.bar_text import Bar
from barrier_lab.timeline.bars import Row
from barrier_lab.timeline.model import Story, tell
from barrier_lab.timeline.releases import called
from barrier_lab.trace.model import Trace

STEPS = 12  # of one rank
STORIES = 8  # groups of ranks with the same steps


def headline(trace: Trace) -> str:
    """The title of the figure."""
    return f"Timeline of {trace.experiment}, {_count(trace.world_size, 'rank')}"


def describe(trace: Trace, story: Story | None = None) -> str:
    """Describe the timeline: what each rank did, the releases, and the ranks that did not return."""
    story = story or tell(trace)
    ending = f"; the run {_OUTCOMES[trace.outcome]}" if trace.outcome in _OUTCOMES else ""
    said = [f"{headline(trace)}, {duration(trace.end)} from their common start{ending}."]
    said += _stories(trace, story.rows)
    said += _meetings(story)
    said += _stuck(trace, story.rows)
    lines = sum(len(rank.output) for rank in trace.ranks)
    return " ".join([*said, f"The ranks printed {_count(lines, 'line')}."] if lines else said)


_OUTCOMES = {
    "completed": "completed",
    "failed": "failed",
    "hung": "hung and was stopped",
    "interrupted": "was interrupted",
}


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' if n != 1 else ''}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _stories(trace: Trace, found: list[Row]) -> list[str]:
    """One sentence per group of ranks that took the same steps, with the range of their times."""
    groups: dict[tuple, list[Row]] = {}
    for row in found:
        key = (
            *(_step(bar) for bar in row.bars),
            *(_step(bar) for bar in row.flights),
            *(row.after[-1:] if row.bad else ()),
        )
        groups.setdefault(key if trace.world_size > 2 else (row.rank,), []).append(row)
    told = sorted(groups.values(), key=lambda group: group[0].rank)
    said = [_story(group, trace) for group in told[:STORIES]]
    if len(told) > STORIES:
        rest = sum(len(group) for group in told[STORIES:])
        said.append(f"{_capital(_count(rest, 'rank'))} more took other steps.")
    return said


def _step(bar: Bar) -> tuple:
    return bar.look, bar.name, bar.open, bar.stuck, bar.error


def _story(group: list[Row], trace: Trace) -> str:
    plural = len(group) > 1
    first = group[0]
    columns = [[row.bars[i] for row in group] for i in range(len(first.bars))]
    steps = [_phrase(bars, trace) for bars in columns]
    if len(steps) > STEPS:
        steps = [*steps[: STEPS - 2], f"and {len(steps) - STEPS + 1} steps more", steps[-1]]
    flights = [_beside(bar) for bar in first.flights[:4]]
    if len(first.flights) > 4:
        flights.append(f"and {_count(len(first.flights) - 4, 'call')} more beside that")
    ends = [f"{first.after[0]}" if not plural else first.after[-1]] if first.after and first.bad else []
    text = "; ".join([*steps, *flights, *ends]) or "nothing recorded"
    each = " each" if plural and len(steps) > 1 else ""
    return f"{_capital(who(row.rank for row in group))}{each}: {text}."


def _beside(bar: Bar) -> str:
    """Describe a call alongside the rank's main thread."""
    if bar.thread is None:
        return f"{bar.name} is in flight for {duration(bar.end - bar.begin)}"
    ends = "did not return" if bar.open else f"took {duration(bar.end - bar.begin)}"
    return f"in thread {bar.thread}, {bar.name} {ends}"


def _range(values: list[float]) -> str:
    low, high = duration(min(values)), duration(max(values))
    return low if low == high else f"{low} to {high}"


def _phrase(bars: list[Bar], trace: Trace) -> str:
    """Describe a step taken by one or several ranks."""
    bar = bars[0]
    took = _range([b.end - b.begin for b in bars])
    since = _range([b.begin for b in bars]) if min(b.begin for b in bars) > 0.001 else "the start"
    if bar.stuck:
        return f"in {bar.name} from {since}, did not return{bar.circumstance}"
    if bar.open:
        return f"{bar.name} from {since} to the end"
    if bar.look == "work":
        return f"{bar.name} {took}"
    if bar.look == "many":
        return f"{bar.name}, between {since} and {_range([b.end for b in bars])}"
    if bar.end - bar.begin < trace.end / 100:
        text = f"{bar.name} at {since}, {took}"
    else:
        text = f"waits {took} in {bar.name}" if bar.look in ("barrier", "wait") else f"{took} in {bar.name}"
    return f"{text}, ended by an error" if bar.error else text


def _meetings(story: Story) -> list[str]:
    released = story.released
    said = []
    if len(released) > 6:
        first, last = duration(released[0].t), duration(released[-1].t)
        said.append(f"{len(released):,} barriers were released, between {first} and {last}.")
    elif released:
        names = [f"{called(r.name, r.ordinal, r.of)} at {duration(r.t)}" for r in released]
        said.append(f"Released: {listed(names)}.")
    for m in story.mismatched[:3]:
        kinds = listed(f"{name} on {who(ranks)}" for name, ranks in m.kinds.items())
        said.append(f"The {nth(m.seq)} {m.what} do not match: {kinds}.")
    return said


def _stuck(trace: Trace, found: list[Row]) -> list[str]:
    held: dict[str, list[int]] = {}
    for row in found:
        for bar in row.bars:
            if bar.stuck:
                held.setdefault(bar.name, []).append(row.rank)
    stopped = "" if trace.stopped is None else f"; the run was stopped at {clock(trace.stopped)}"
    said = [f"{_capital(who(ranks))} did not return from {name}{stopped}." for name, ranks in held.items()]
    raised: dict[str, list[int]] = {}
    for rank in trace.ranks:
        if rank.error:
            raised.setdefault(summary(rank.error), []).append(rank.rank)
    told = [f"{_capital(who(ranks))} raised {error}." for error, ranks in raised.items()]
    for rank in trace.ranks:
        said += [f"Thread {e.thread} of rank {rank.rank} ended with {summary(e.error)}." for e in rank.thread_errors]
    rest = sum(len(ranks) for ranks in list(raised.values())[4:])
    return [*said, *told[:4], *([f"{_capital(_count(rest, 'rank'))} more raised."] if rest else [])]
