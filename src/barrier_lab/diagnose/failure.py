"""Verdict of a failed run: first the causes, then their consequences on other ranks."""

import math
import re

from barrier_lab.diagnose.between_ranks import brought, first_difference
from barrier_lab.diagnose.durations import clock
from barrier_lab.diagnose.ends import end_of
from barrier_lab.diagnose.error_summary import summary
from barrier_lab.diagnose.first_difference import kinds, shifts
from barrier_lab.diagnose.meetings import Calls, calls, counterpart, expected, meeting, with_earlier
from barrier_lab.diagnose.places import at, site
from barrier_lab.diagnose.rank_state import how_often, lacks, last_call, nth, stands, waiting
from barrier_lab.diagnose.sentences import Phrase, quoted, sentences
from barrier_lab.diagnose.waits import Wait, blocked_in, handled_call, in_flight, waits
from barrier_lab.trace.model import Rank, Span, Trace

_VICTIM = re.compile(
    r"connection (was )?(closed|reset|refused)|pair closure|broken pipe|socket|remote process exited", re.I
)
_OWN = re.compile(r"EADDRINUSE|address already in use|failed to (listen|bind)", re.I)  # a cause, not a consequence
_APART = 0.25  # seconds; a rank may notice that another is failing before that rank's own error is recorded
_TIMEOUT = re.compile(r"timed? ?-?out|failed to pass monitoredbarrier", re.IGNORECASE)


def failed(trace: Trace) -> list[str]:
    """Sentences about the causes by time, the ranks missing from a wait that timed out, the victims, and the rest."""
    found = calls(trace)
    left = _left_early(trace, found)
    causes = [(rank.rank, phrase) for rank in trace.ranks if (phrase := _cause(found, rank, left))] or _vanished(trace)
    causes.sort(key=lambda cause: cause[1].t if cause[1].t is not None else -1.0)
    blamed = {rank for rank, _ in causes}
    late = [(r, phrase) for r, phrase in _late(trace, found) if r not in blamed]
    victims = [(r.rank, _saw(r)) for r in trace.ranks if r.error and r.rank not in blamed]
    victims += [(r.rank, failed_call(r, span)) for r in trace.ranks if (span := _unreported(r))]
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


def _vanished(trace: Trace) -> list[tuple[int, Phrase]]:
    """The ranks that ended without a word; those that waited at the end may have been ended by their launcher."""
    gone = [rank for rank in trace.ranks if end_of(rank) == "vanished" and not _unreported(rank)]
    gone = [rank for rank in gone if blocked_in(rank) is None and not in_flight(rank)] or gone
    said = "ended without a word{} (os._exit, or a signal such as SIGKILL)"
    return [(rank.rank, Phrase(said.format(last_call(rank)), rank.last)) for rank in gone]


def _unreported(rank: Rank) -> Span | None:
    """The call that lost its peer on a rank whose launcher ended it before it had reported its error."""
    if rank.error or rank.exited or rank.signal or rank.exit_code is not None or blocked_in(rank):
        return None
    last = max((span for span in rank.spans if span.end is not None), key=lambda span: span.end or 0.0, default=None)
    return last if last and lost_peer(last.error) else None


def _at_the_end(rank: Rank, wait: Wait | None) -> Phrase:
    """Where a rank that had not ended was: in the call that it waits for, or elsewhere."""
    if wait is None or wait.held is None:
        return stands(rank)
    return Phrase(waiting(rank, wait).text.replace("{is}", "{was}"))


def _differing(trace: Trace, found: Calls) -> tuple[list[str], list[str]]:
    """Sentences about the first differences in groups with failed calls, and about the arguments of these calls."""
    broken = [call for rank in trace.ranks if (call := _broken_call(rank)) and call.seq is not None]
    at_least = {call.group: min(c.seq for c in broken if c.group == call.group) for call in broken}
    history = with_earlier(trace, found)
    strays = [stray for stray in shifts(history) if stray.seq <= at_least.get(stray.group, 0)]
    others = [stray for stray in kinds(history) if stray.group not in {stray.group for stray in strays}]
    pairs = []
    for group, seq in at_least.items():
        pairs += brought([order[seq] for order in found.get(group or "", {}).values() if seq in order])
    return [first_difference(history, stray) for stray in [*strays, *others][:2]], pairs


def _broken_call(rank: Rank) -> Span | None:
    """The call that failed on a rank, or in which its process ended."""
    cut = rank.signal or end_of(rank) == "vanished"  # as by SIGABRT, when gloo finds sizes that do not match
    span = _failing_span(rank) or (blocked_in(rank) if cut else None)
    if span is not None:
        return handled_call(rank, span) or span
    return next(iter(in_flight(rank)), None) if cut else None


def _by_itself(rank: Rank) -> bool:
    """Whether a rank ended for a reason of its own, outside any call."""
    if rank.signal:
        return rank.signal not in ("SIGABRT", "SIGSEGV")
    if end_of(rank) == "vanished":
        return _broken_call(rank) is None
    return bool(rank.exit_code or rank.error) and _failing_span(rank) is None


def _before(victims: list[tuple[int, Phrase]], causes: list[tuple[int, Phrase]]) -> list[tuple[int, Phrase]]:
    """Victims that lost a peer well before any known cause.  Not being its consequence, they are listed first."""
    begin = min((-math.inf if p.t is None else p.t for _, p in causes), default=-math.inf)
    return [(rank, p) for rank, p in victims if p.t is not None and p.t < begin - _APART]


def is_victim(rank: Rank) -> bool:
    """Whether a rank's error is a consequence of another rank's end."""
    if not rank.error:
        return False
    span = _failing_span(rank)
    if span is not None:
        return lost_peer(span.error) and (not span.handling or lost_peer(span.handling))
    return rank.error_by in (None, "torch", "barrier_lab") and lost_peer(rank.error)


def lost_peer(error: str | None) -> bool:
    """Whether an error message says that a connection to another rank broke."""
    return bool(error and _VICTIM.search(summary(error)) and not _OWN.search(error))


def failed_call(rank: Rank, span: Span) -> Phrase:
    """Describe a call that ended with an error."""
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
    """Whether an error message says that a timeout expired, on this rank and not earlier on another one."""
    return bool(error and _TIMEOUT.search(summary(error)) and not _VICTIM.search(summary(error)))


def _cause(found: Calls, rank: Rank, left: set[int]) -> Phrase | None:
    """Describe how a rank failed, unless that is the consequence of another rank's end."""
    where, code = last_call(rank), rank.exit_code
    if rank.signal:
        reason = last_words(rank) if rank.signal == "SIGABRT" else ""
        return Phrase(f"{{was}} killed by {rank.signal}{where}{f': {quoted(reason)}' if reason else ''}", rank.last)
    leaves = rank.error and summary(rank.error).startswith("SystemExit")
    if end_of(rank) == "raised" and not leaves:
        return None if is_victim(rank) else _saw(rank)
    if leaves or (code is not None and rank.ended is None):
        text = f"exited with code {code}" if code is not None else f"left by {quoted(summary(rank.error or ''))}"
        where = at(rank.left_at or rank.error_at) + where or " before its worker returned"
        return Phrase(f"{text}{where}", rank.last)
    if code or rank.rank in left:
        text = f"exited with code {code}" if code else "finished"
        return Phrase(f"{text} {{t}}{at(rank.left_at)}, {how_often(found, rank)}", rank.ended)
    return None


def _saw(rank: Rank) -> Phrase:
    """Describe the error with which a rank ended, in a call or in user code."""
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
    """The call that raised, or led to, the rank's error; None if it has another reason."""
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
    """Why a rank aborted, from its last lines on standard error; empty if there are none."""
    lines = [line.text for line in rank.output if line.stream == "stderr"][-60:]
    found = [match["reason"] for line in lines if (match := _WHAT.search(line)) and match["reason"]]
    said = found or [line for line in lines if not _NOISE.match(line)]
    return summary(said[-1]) if said else ""


def _message(error: str | None) -> str:
    """An error message without the name of the exception class."""
    text = summary(error or "")
    return text.partition(": ")[2] or text


def _left_early(trace: Trace, found: Calls) -> set[int]:
    """Ranks that returned without an error and without making a call that failed on other ranks."""
    broken = [span for rank in trace.ranks if is_victim(rank) and (span := _broken_call(rank))]
    ended = {r.rank for r in trace.ranks if end_of(r) == "returned"}
    first = {(s.group, s.seq): s for s in broken if s.seq is not None}
    missing = {rank for span in first.values() for rank in meeting(trace, found, span, []).missing}
    messages = [span for span in broken if span.kind == "p2p" and counterpart(trace, span) is None]
    missing |= {rank for span in messages for rank in (ended if span.peer is None else {span.peer})}
    return missing & ended


def _late(trace: Trace, found: Calls) -> list[tuple[int, Phrase]]:
    """Ranks that had not arrived at the first collective that timed out, and where they were then."""
    ended = [
        call
        for r in trace.ranks
        if (s := _failing_span(r)) and is_timeout(s.error) and (call := _broken_call(r)) and call.seq is not None
    ]
    if not ended:
        return []
    return absent(trace, found, min(ended, key=lambda span: span.end or 0.0))


def absent(trace: Trace, found: Calls, broken: Span) -> list[tuple[int, Phrase]]:
    """Ranks that had not arrived when a collective failed, and where they were.  They may have arrived later."""
    met = meeting(trace, found, broken, [])
    calls_here = found.get(broken.group or "default", {})
    ranks = [rank for rank in expected(trace, found, broken) if rank < trace.world_size]
    late = [r for r in ranks if (call := calls_here.get(r, {}).get(met.seq)) is None or call.begin > (broken.end or 0)]
    return [(rank, lacks(found, trace.ranks[rank], met, broken.end)) for rank in late]
