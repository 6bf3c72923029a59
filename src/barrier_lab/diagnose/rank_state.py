"""Describe the state of a rank as a phrase: what it waits in, where it is, which call it has not made."""

from barrier_lab.diagnose.ends import end_of
from barrier_lab.diagnose.error_summary import summary
from barrier_lab.diagnose.meetings import Calls, Meeting, dropped, is_send, other_side, places_in_series
from barrier_lab.diagnose.places import at, path, site, spot
from barrier_lab.diagnose.sentences import Phrase, quoted
from barrier_lab.diagnose.waits import Wait, blocked_in, in_flight
from barrier_lab.english import listed, ordinal, times
from barrier_lab.trace.model import Place, Rank, Span


def spoken(name: str) -> str:
    """A span's name as written in user code."""
    return {"sleep": "time.sleep", "wait": "wait()"}.get(name, name)


def waiting(rank: Rank, wait: Wait) -> Phrase:
    """Describe the call that a thread of a rank waits in at the end."""
    call, held = wait.call, wait.held
    if held is None:
        pending = f"{{its}} {nth(rank, call)}{site(call)} had not completed"
        here = "had left {its} worker and {was} ending" if rank.leaving else f"{{was}} at {_stuck(rank)}"
        return Phrase(f"{here}; {pending}")
    if held is call and call.kind != "wait":
        text = f"{{is}} waiting in {{its}} {nth(rank, call)}{site(call)}"
    elif held is not call:
        brief = at(call) if spot(call) != spot(held) else ""
        text = f"{{is}} waiting in wait(){site(held)} for {{its}} {nth(rank, call)}{brief} to complete"
    else:
        open_ones = in_flight(rank)
        several = f"; {len(open_ones)} of {{its}} collectives had not completed" if open_ones else ""
        text = f"{{is}} waiting in wait(){site(held)} for a handle{several}"
    where = f" in thread {quoted(wait.thread)}" if wait.thread else ""
    return Phrase(f"{text}{where}{_circumstances(rank, held)}")


def _circumstances(rank: Rank, held: Span) -> str:
    """A clause if a call is made while handling an exception or after the worker has ended, else empty."""
    if held.handling:
        return f", while handling {quoted(held.handling)}{at(held.raised_at)}"
    if rank.ended is None or held.begin < rank.ended:
        return ""
    if rank.error:
        return f", after {{it}} had raised {quoted(summary(rank.error))}{at(rank.error_at)}"
    return ", after {its} worker had returned"


def _threads(rank: Rank) -> str:
    """ ", and its thread “saver” at save.py:17 (in save)": where its other threads were, unless in a recorded call."""
    busy = {span.thread for span in rank.spans if span.blocked and span.end is None}
    places = [(name, frames) for name, frames in rank.stuck_threads if name is None or name not in busy]
    threads = [f"its thread {quoted(name)}" if name else "another thread" for name, _ in places[:3]]
    said = [f"{thread} at {_lines(where[0], where[1:])}" for thread, (_, where) in zip(threads, places, strict=False)]
    return f", and {listed(said)}" if said else ""


def thread_error(rank: Rank) -> list[Phrase]:
    """Describe the exceptions that ended threads of a rank."""
    return [
        Phrase(f"had a thread, {quoted(e.thread)}, that ended {{t}} with {quoted(summary(e.error))}{at(e.place)}", e.t)
        for e in rank.thread_errors
    ]


def _stuck(rank: Rank) -> str:
    """ "engine.py:12 (in read), called from main.py:15": where the main thread was, then the other threads."""
    return _lines(rank.stuck_at, rank.stuck_callers) + _threads(rank)


def _lines(place: Place, around: tuple[Place, ...]) -> str:
    callers = path(place, around).partition(", called from ")[2].rstrip(")")
    inside = f" (in {place.function})" if place.function else ""
    return f"{spot(place)}{inside}{f', called from {callers}' if callers else ''}"


def stands(rank: Rank, moment: float | None = None) -> Phrase:
    """Describe where a rank was at time ``moment`` (default: when its files end)."""
    if rank.unreported:
        return Phrase(rank.unreported)
    if not rank.started and not rank.spans:
        here = f"; {{it}} {{was}} at {_stuck(rank)}" if rank.stuck_at else ""
        return Phrase(f"had not arrived at the common start{here}")
    if over := _over(rank, moment):
        return over
    span = blocked_in(rank, moment)
    if span:
        called = spoken(span.name) if span.kind == "sleep" else f"{{its}} {nth(rank, span)}"
        words = "" if span.kind == "sleep" else "waiting "
        return Phrase(f"{{was}} {words}in {called}{site(span)}{_circumstances(rank, span)}")
    if place := _by_stack(rank):
        return Phrase(place)
    done = [s for s in rank.spans if s.end is not None and (moment is None or s.end <= moment)]
    if done:
        return Phrase(f"had last returned from {spoken(done[-1].name)}{at(done[-1])}")
    return Phrase("had made no call that is recorded")


def _over(rank: Rank, moment: float | None) -> Phrase | None:
    """Describe how a rank had ended at time ``moment``; None if it had not."""
    last = moment is None or rank.last <= moment
    if end_of(rank) == "killed" and last:
        return Phrase(f"had been killed by {rank.signal}")
    if end_of(rank) == "vanished" and last:
        if moment is not None and blocked_in(rank, moment):
            return None  # its launcher ended it, after that moment
        return Phrase("had ended without a word (os._exit, or a signal such as SIGKILL)")
    if end_of(rank) == "exited" and last:
        return Phrase(f"had exited with code {rank.exit_code}")
    if rank.ended is not None and (moment is None or rank.ended <= moment):
        raised = f"had raised {quoted(summary(rank.error or ''))} {{t}}{at(rank.error_at)}"
        return Phrase(raised if rank.error else "had finished {t}", rank.ended)
    return Phrase(f"had exited with code {rank.exit_code}") if rank.exit_code is not None and last else None


def _by_stack(rank: Rank) -> str:
    """Where a rank outside any recorded call was, from its stacks; empty if there are none."""
    if rank.stuck_in:
        return f"{{was}} in {rank.stuck_in}{path(rank.stuck_at, rank.stuck_callers)}"
    if rank.leaving:
        return "had left {its} worker and {was} ending"
    return f"{{was}} at {_stuck(rank)}" if rank.stuck_at else ""


def lacks(found: Calls, rank: Rank, met: Meeting, moment: float | None = None) -> Phrase:
    """Describe how many of the calls leading to a collective a missing rank had made, and where it was."""
    order = found.get(met.group, {}).get(rank.rank, {})
    order = {seq: span for seq, span in order.items() if moment is None or span.begin <= moment}
    stand = stands(rank, moment)
    same = sum(span.name == met.name for span in order.values()) + dropped(rank, met.group, met.name)
    made = len(order) + dropped(rank, met.group)
    on = on_group(met.on)
    if made == same:
        called = f"had called {met.name}{on} {times(same)}" if same else f"had not called {met.name}{on}"
    else:
        so_far = f"{made} of the {met.seq} collectives{on} that this takes"
        called = f"had called {so_far}" if same else f"had not called {met.name}{on} (it had called {so_far})"
    return Phrase(f"{called}{{when}}; {{it}} {stand.text}", stand.t)


def lacks_message(rank: Rank, wait: Wait, moment: float | None = None) -> Phrase:
    """Describe the send or receive that a waiting rank needs and this rank had not called, and where it was."""
    stand = stands(rank, moment)
    return Phrase(f"had not called {needed(wait.call)}{{when}}; {{it}} {stand.text}", stand.t)


def needed(message: Span) -> str:
    """The call that a message needs on its peer: "send to rank 1 with tag 2"."""
    tag = f" with tag {message.tag}" if message.tag else ""
    return f"recv from rank {message.rank}{tag}" if is_send(message) else f"send to rank {message.rank}{tag}"


def how_often(found: Calls, rank: Rank) -> str:
    """ "having called barrier once"."""
    called = [span for by_rank in found.values() for span in by_rank.get(rank.rank, {}).values()]
    spans = [span for span in called if span.kind == "collective"]
    if rank.dropped:
        return f"having called {sum(dropped(rank, group) for group in found) + len(spans):,} collectives"
    return f"having called {counted(spans, groups=True) if spans else 'no collective'}"


def counted(spans: list[Span], groups: bool = False) -> str:
    """ "broadcast twice (f.py:3) and barrier once (f.py:5)"; no line for a name called from several lines."""
    kinds: dict[str, list[Span]] = {}
    for span in spans:
        kinds.setdefault(f"{span.name}{on_group(span.on) if groups else ''}", []).append(span)
    lines = {name: at(alike[0]) if len({spot(s) for s in alike}) == 1 else "" for name, alike in kinds.items()}
    return listed(f"{name} {times(len(alike))}{lines[name]}" for name, alike in kinds.items())


def last_call(rank: Rank) -> str:
    """ " while in time.sleep (f.py:3)" or " after its 1st barrier (f.py:2)": the last call when its files end."""
    span = blocked_in(rank)
    done = [s for s in rank.spans if s.end is not None]
    if span is None and not done:
        return "" if rank.started else " before the common start"
    last = span or done[-1]
    call = spoken(last.name) if last.kind == "sleep" else f"{{its}} {nth(rank, last)}"
    return f" {'while in' if span else 'after'} {call}{at(last)}"


def nth(rank: Rank, span: Span) -> str:
    """ "2nd barrier": a call with its ordinal among the rank's calls of this name, group and peer."""
    several = any(s.name == span.name and s.group != span.group for s in rank.spans)
    on = " on the default group" if several and span.group == "default" else on_group(span.on)
    return f"{ordinal(places_in_series(rank)[id(span)])} {spoken(span.name)}{other_side(span)}{on}"


def on_group(on: str) -> str:
    """ " on the group of ranks 0 and 2"; empty for the default group."""
    return f" on {on}" if on else ""
