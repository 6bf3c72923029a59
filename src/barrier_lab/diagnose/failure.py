"""Tell a failed run: first what broke it, then what the other ranks saw of that."""

import math
import re

from barrier_lab.diagnose.between_ranks import brought, first_difference
from barrier_lab.diagnose.durations import clock
from barrier_lab.diagnose.ends import end_of
from barrier_lab.diagnose.error_summary import summary
from barrier_lab.diagnose.first_difference import kinds, shifts
from barrier_lab.diagnose.meetings import Calls, calls, counterpart, expected, meeting
from barrier_lab.diagnose.places import at, site
from barrier_lab.diagnose.rank_state import how_often, lacks, last_call, nth, stands, waiting
from barrier_lab.diagnose.sentences import Phrase, quoted, sentences
from barrier_lab.diagnose.waits import Wait, blocked_in, handled_call, in_flight, waits
from barrier_lab.trace.model import Rank, Span, Trace

_VICTIM = re.compile(
    r"connection (was )?(closed|reset|refused)|pair closure|broken pipe|socket|remote process exited", re.I
)
_OWN = re.compile(r"EADDRINUSE|address already in use|failed to (listen|bind)", re.I)  # of a socket, yet no victim's
_APART = 0.25  # seconds: a rank may see that another is going before that one's own error is written
_TIMEOUT = re.compile(r"timed? ?-?out|failed to pass monitoredbarrier", re.IGNORECASE)


def failed(trace: Trace) -> list[str]:
    """The causes in order of time, who was missing where a timeout ended a wait, the victims, and the rest."""
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
    held = {wait.rank: wait for wait in waits(trace) if wait.thread is None}
    rest = [(r.rank, _at_the_end(r, held.get(r.rank))) for r in trace.ranks if r.rank not in told and r.ended is None]
    stop = f"when the run was stopped at {clock(trace.stopped)}" if trace.stopped else "when its files end"
    broke = [*sentences(first), *sentences(causes), *sentences(late, "by then"), *sentences(then)]
    strays, pairs = _differing(trace, found)
    explained = strays and not any(_by_itself(trace.ranks[rank]) for rank in blamed)
    return [*(strays if explained else []), *broke, *sentences(rest, stop), *pairs, *([] if explained else strays)]


def _at_the_end(rank: Rank, wait: Wait | None) -> Phrase:
    """Where a rank was that had not ended: in the call that it waits for, or somewhere else."""
    if wait is None or wait.held is None:
        return stands(rank)
    return Phrase(waiting(rank, wait).text.replace("{is}", "{was}"))


def _differing(trace: Trace, found: Calls) -> tuple[list[str], list[str]]:
    """The first difference of a group in whose calls ranks failed, and what the calls that failed brought."""
    broken = [call for rank in trace.ranks if (call := _broken_call(rank)) and call.seq is not None]
    at_least = {call.group: min(c.seq for c in broken if c.group == call.group) for call in broken}
    strays = [stray for stray in shifts(found) if stray.seq <= at_least.get(stray.group, 0)]
    others = [stray for stray in kinds(found) if stray.group not in {stray.group for stray in strays}]
    pairs = []
    for group, seq in at_least.items():
        pairs += brought([order[seq] for order in found.get(group or "", {}).values() if seq in order])
    return [first_difference(found, stray) for stray in [*strays, *others][:2]], pairs


def _broken_call(rank: Rank) -> Span | None:
    """The collective that failed on a rank, or in which a signal ended it."""
    span = _failing_span(rank) or (blocked_in(rank) if rank.signal else None)
    if span is not None:
        return handled_call(rank, span) or span
    return next(iter(in_flight(rank)), None) if rank.signal else None


def _by_itself(rank: Rank) -> bool:
    """Whether a rank ended for a reason of its own, and not in a call."""
    if rank.signal:
        return rank.signal not in ("SIGABRT", "SIGSEGV")
    return bool(rank.exit_code or rank.error) and _failing_span(rank) is None


def _before(victims: list[tuple[int, Phrase]], causes: list[tuple[int, Phrase]]) -> list[tuple[int, Phrase]]:
    """Those that lost a peer well before any cause that is known: no consequence of it, so they are told first."""
    begin = min((-math.inf if p.t is None else p.t for _, p in causes), default=-math.inf)
    return [(rank, p) for rank, p in victims if p.t is not None and p.t < begin - _APART]


def is_victim(rank: Rank) -> bool:
    """Whether a rank's error is what a rank sees when another one has gone."""
    if not rank.error:
        return False
    span = _failing_span(rank)
    if span is not None:
        return lost_peer(span.error) and (not span.handling or lost_peer(span.handling))
    return rank.error_by in (None, "torch", "barrier_lab") and lost_peer(rank.error)


def lost_peer(error: str | None) -> bool:
    """Whether the words of an error say that a connection to another rank broke."""
    return bool(error and _VICTIM.search(summary(error)) and not _OWN.search(error))


def failed_call(rank: Rank, span: Span) -> Phrase:
    """A call that ended in an error."""
    if is_timeout(span.error):
        found = re.search(r"(\d+) ?ms", span.error or "")
        length = f" of {int(found[1]) / 1000:g} s" if found else ""
        text = f"waited in {{its}} {nth(rank, span)}{site(span)} until the timeout{length} ended it {{t}}"
    else:
        text = f"failed in {{its}} {nth(rank, span)}{site(span)} {{t}}"
    text = f"{text}: {quoted(_message(span.error))}"
    if span.handling:
        text += f", while handling {quoted(span.handling)}{at(span.raised_at)}"
    return Phrase(text, span.end)


def is_timeout(error: str | None) -> bool:
    """Whether an error says that a timeout ran out, on this rank and not on another one before."""
    return bool(error and _TIMEOUT.search(summary(error)) and not _VICTIM.search(summary(error)))


def _cause(found: Calls, rank: Rank, left: set[int]) -> Phrase | None:
    """What a rank did that is not the consequence of another rank's end."""
    where, code = last_call(rank), rank.exit_code
    if rank.signal:
        reason = last_words(rank) if rank.signal == "SIGABRT" else ""
        return Phrase(f"{{was}} ended by {rank.signal}{where}{f': {quoted(reason)}' if reason else ''}", rank.last)
    leaves = rank.error and summary(rank.error).startswith("SystemExit")
    if end_of(rank) == "raised" and not leaves:
        return None if is_victim(rank) else _saw(rank)
    if leaves or (code is not None and rank.ended is None):
        text = f"exited with code {code}" if code is not None else f"left by {quoted(summary(rank.error or ''))}"
        where = at(rank.left_at or rank.error_at) + where or " before its worker returned"
        return Phrase(f"{text}{where}", rank.last)
    if code or rank.rank in left:
        text = f"exited with code {code}" if code else "finished"
        return Phrase(f"{text} {{t}}, {how_often(found, rank)}", rank.ended)
    return None


def _saw(rank: Rank) -> Phrase:
    """The error with which a rank ended: in a call, or in its own code."""
    if span := _failing_span(rank):
        failure = failed_call(rank, span)
        if _alike(rank.error, span.error):
            return failure
        return Phrase(
            f"{failure.text}; {{it}} then raised {quoted(summary(rank.error or ''))}{at(rank.error_at)}", failure.t
        )
    early = not rank.started or (rank.ended is not None and rank.ended < 0)
    moment = " before the common start" if early else "" if rank.ended is None else " {t}"
    return Phrase(f"raised {quoted(summary(rank.error or ''))}{moment}{at(rank.error_at)}", rank.ended)


def _failing_span(rank: Rank) -> Span | None:
    """The call whose error a rank raised, or which led to it; None if it raised for another reason."""
    if not rank.error:
        return None
    for error in (rank.error, *rank.error_chain):
        broken = [span for span in rank.spans if span.error and _alike(error, span.error)]
        if broken:
            return broken[-1]
    return None


def _alike(error: str | None, other: str | None) -> bool:
    return summary(error or "")[:60] == summary(other or "")[:60]


_WHAT = re.compile(r"what\(\):\s*(?P<reason>.*)")
_NOISE = re.compile(
    r"^(\s|$|Fatal Python error|Current thread|Thread 0x|Extension modules|terminate called|<no Python)"
)


def last_words(rank: Rank) -> str:
    """Why a rank aborted, from the last lines that it wrote on standard error; nothing if it wrote none."""
    lines = [line.text for line in rank.output if line.stream == "stderr"][-60:]
    found = [match["reason"] for line in lines if (match := _WHAT.search(line)) and match["reason"]]
    said = found or [line for line in lines if not _NOISE.match(line)]
    return summary(said[-1]) if said else ""


def _message(error: str | None) -> str:
    """An error's message without the name of its class."""
    text = summary(error or "")
    return text.partition(": ")[2] or text


def _left_early(trace: Trace, found: Calls) -> set[int]:
    """Ranks that returned without an error and without making a call that broke for the others."""
    broken = [span for rank in trace.ranks if is_victim(rank) and (span := _broken_call(rank))]
    ended = {r.rank for r in trace.ranks if end_of(r) == "returned"}
    first = {(s.group, s.seq): s for s in broken if s.seq is not None}
    missing = {rank for span in first.values() for rank in meeting(trace, found, span, []).missing}
    messages = [span for span in broken if span.kind == "p2p" and counterpart(trace, span) is None]
    missing |= {rank for span in messages for rank in (ended if span.peer is None else {span.peer})}
    return missing & ended


def _late(trace: Trace, found: Calls) -> list[tuple[int, Phrase]]:
    """Who had not arrived at the first collective that a timeout ended, and where it was then."""
    ended = [
        call
        for r in trace.ranks
        if (s := _failing_span(r)) and is_timeout(s.error) and (call := _broken_call(r)) and call.seq is not None
    ]
    if not ended:
        return []
    return absent(trace, found, min(ended, key=lambda span: span.end or 0.0))


def absent(trace: Trace, found: Calls, broken: Span) -> list[tuple[int, Phrase]]:
    """Who had not arrived when a collective ended in an error, and where it was then; it may have arrived later."""
    met = meeting(trace, found, broken, [])
    calls_here = found.get(broken.group or "default", {})
    ranks = [rank for rank in expected(trace, found, broken) if rank < trace.world_size]
    late = [r for r in ranks if (call := calls_here.get(r, {}).get(met.seq)) is None or call.begin > (broken.end or 0)]
    return [(rank, lacks(found, trace.ranks[rank], met, broken.end)) for rank in late]
