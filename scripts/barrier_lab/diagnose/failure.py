"""Tell a failed run: first what broke it, then what the other ranks saw of that."""

import math
import re

from barrier_lab.diagnose.pairing import Calls, calls, meeting
from barrier_lab.diagnose.phrases import Phrase, how_often, lacks, last_call, nth, quoted, sentences, stands
from barrier_lab.diagnose.words import at, clock, summary
from barrier_lab.trace import Rank, Span, Trace

_VICTIM = re.compile(
    r"connection (was )?(closed|reset|refused)|pair closure|broken pipe|socket|remote process exited", re.I
)
_OWN = re.compile(r"EADDRINUSE|address already in use|failed to (listen|bind)", re.I)  # of a socket, yet no victim's
_APART = 0.25  # seconds: a rank may see that another is going before that one's own error is written
_TIME_OUT = re.compile(r"timed? ?-?out|failed to pass monitoredbarrier", re.IGNORECASE)


def failed(trace: Trace) -> list[str]:
    """The causes in order of time, who was missing where a time-out ended a wait, the victims, and the rest."""
    found = calls(trace)
    left = _left_early(trace, found)
    causes = [(rank.rank, phrase) for rank in trace.ranks if (phrase := _cause(found, rank, left))]
    causes.sort(key=lambda cause: cause[1].t if cause[1].t is not None else -1.0)
    blamed = {rank for rank, _ in causes}
    late = [(r, phrase) for r, phrase in _late(trace, found) if r not in blamed]
    victims = [(r.rank, _saw(r)) for r in trace.ranks if r.error and r.rank not in blamed]
    first = _before(victims, causes)
    then = [victim for victim in victims if victim not in first]
    told = blamed | {rank for rank, _ in late} | {rank for rank, _ in victims}
    rest = [(r.rank, stands(r)) for r in trace.ranks if r.rank not in told and r.ended is None]
    stop = f"when the run was stopped at {clock(trace.stopped)}" if trace.stopped else "when its files end"
    broke = [*sentences(first), *sentences(causes), *sentences(late, "by then"), *sentences(then)]
    return [*broke, *sentences(rest, stop)]


def _before(victims: list[tuple[int, Phrase]], causes: list[tuple[int, Phrase]]) -> list[tuple[int, Phrase]]:
    """Those that lost a peer well before any cause that is known: no consequence of it, so they are told first."""
    begin = min((-math.inf if p.t is None else p.t for _, p in causes), default=-math.inf)
    return [(rank, p) for rank, p in victims if p.t is not None and p.t < begin - _APART]


def is_victim(rank: Rank) -> bool:
    """Whether a rank's error is what a rank sees when another one has gone."""
    return bool(rank.error and _VICTIM.search(summary(rank.error)) and not _OWN.search(rank.error))


def failed_call(rank: Rank, span: Span) -> Phrase:
    """A call that ended in an error."""
    if is_time_out(span.error):
        found = re.search(r"(\d+) ?ms", span.error or "")
        length = f" of {int(found[1]) / 1000:g} s" if found else ""
        text = f"waited in {{its}} {nth(rank, span)}{at(span)} until the time-out{length} ended it {{t}}"
    else:
        text = f"failed in {{its}} {nth(rank, span)}{at(span)} {{t}}"
    return Phrase(f"{text}: {quoted(_message(span.error))}", span.end)


def is_time_out(error: str | None) -> bool:
    """Whether an error says that a time-out ran out, on this rank and not on another one before."""
    return bool(error and _TIME_OUT.search(summary(error)) and not _VICTIM.search(summary(error)))


def _cause(found: Calls, rank: Rank, left: set[int]) -> Phrase | None:
    """What a rank did that is not the consequence of another rank's end."""
    where, code = last_call(rank), rank.exit_code
    if rank.signal:
        return Phrase(f"{{was}} ended by {rank.signal}{where}", rank.last)
    leaves = rank.error and summary(rank.error).startswith("SystemExit")
    if rank.error and not leaves:
        return None if is_victim(rank) else _saw(rank)
    if leaves or (code is not None and rank.ended is None):
        text = f"exited with code {code}" if code is not None else f"left by {quoted(summary(rank.error or ''))}"
        where = at(rank.error_at) or where or " before its worker returned"
        return Phrase(f"{text}{where}", rank.last)
    if code or rank.rank in left:
        text = f"exited with code {code}" if code else "finished"
        return Phrase(f"{text} {{t}}, {how_often(found, rank)}", rank.ended)
    return None


def _saw(rank: Rank) -> Phrase:
    """The error with which a rank ended: in a call, or in its own code."""
    if span := _failing_span(rank):
        return failed_call(rank, span)
    early = not rank.started or (rank.ended is not None and rank.ended < 0)
    moment = " before the common start" if early else "" if rank.ended is None else " {t}"
    return Phrase(f"raised {quoted(summary(rank.error or ''))}{moment}{at(rank.error_at)}", rank.ended)


def _failing_span(rank: Rank) -> Span | None:
    """The call whose error a rank raised; None if it raised for another reason."""
    text = summary(rank.error or "")[:60]
    broken = [s for s in rank.spans if s.error and summary(s.error)[:60] == text]
    return broken[-1] if broken else None


def _message(error: str | None) -> str:
    """An error's message without the name of its class."""
    text = summary(error or "")
    return text.partition(": ")[2] or text


def _left_early(trace: Trace, found: Calls) -> set[int]:
    """Ranks that returned without an error and without calling a collective that broke for the others."""
    broken = [s for r in trace.ranks if is_victim(r) and (s := _failing_span(r)) and s.seq is not None]
    ended = {r.rank for r in trace.ranks if r.ended is not None and not r.error and not r.exit_code}
    first = {(s.group, s.seq): s for s in broken}
    return {rank for span in first.values() for rank in meeting(trace, found, span, []).missing if rank in ended}


def _late(trace: Trace, found: Calls) -> list[tuple[int, Phrase]]:
    """Who had not come to the first collective that a time-out ended, and where it stood then."""
    ended = [
        s for r in trace.ranks if r.error and (s := _failing_span(r)) and s.seq is not None and is_time_out(s.error)
    ]
    if not ended:
        return []
    first = min(ended, key=lambda span: span.end or 0.0)
    met = meeting(trace, found, first, [])
    return [(r, lacks(found, trace.ranks[r], met, first.end)) for r in met.missing]
