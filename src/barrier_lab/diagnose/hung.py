"""Verdict of a hung or interrupted run: which ranks wait in which call, which ranks are missing, and why."""

from barrier_lab.diagnose import rank_state
from barrier_lab.diagnose.between_ranks import absentees, brought, cycle, first_difference, silence
from barrier_lab.diagnose.durations import clock
from barrier_lab.diagnose.first_difference import Difference, kinds, shifts
from barrier_lab.diagnose.meetings import Calls, Meeting, calls, counterpart, is_send, meeting, with_earlier
from barrier_lab.diagnose.places import at, site
from barrier_lab.diagnose.rank_state import nth
from barrier_lab.diagnose.sentences import Phrase, sentences
from barrier_lab.diagnose.waits import Wait, blocked_in, waits
from barrier_lab.english import listed, times, who
from barrier_lab.trace.model import Rank, Span, Trace


def hung(trace: Trace, stop: str) -> list[str]:
    """Sentences about the first difference if it is the cause, the waiting ranks, the missing ones, and other findings.

    ``stop``: the clause that gives the time to which the sentences refer.
    """
    found = calls(trace)
    held = waits(trace)
    history = with_earlier(trace, found)
    strays = shifts(history)
    groups = {wait.call.group for wait in held}
    cause = [stray for stray in strays if stray.group in groups][:2]  # a wait may be their consequence
    cyclic, ring = cycle(held)
    differ = [first_difference(history, stray) for stray in cause]
    ranks = [*absentees(trace, held), *cyclic, *_rank_by_rank(trace, found, held, stop)]
    # Report an exception before its consequence.
    told = [*ranks, *differ] if any(wait.held and wait.held.handling for wait in held) else [*differ, *ranks]
    told = [*thread_errors(trace), *told]
    if not held and stop != "by then":
        told += _nobody_waits(trace)
    meetings = _meetings(trace, found, held)
    rest = [sentence for met in meetings for sentence in _rest(trace, found, met, held, cause, ring)]
    rest += [sentence for wait in held for sentence in _message(trace, wait)]
    others = [first_difference(history, stray) for stray in strays if stray not in cause][:1]
    later = [stray for stray in kinds(history) if stray.group in groups and stray not in cause]
    others += [first_difference(history, stray, first=False) for stray in later[:1] if stray not in strays]
    return [*told, *_not_exited(trace, held), *dict.fromkeys(rest), *others, *silence(trace)]


def _rank_by_rank(trace: Trace, found: Calls, held: list[Wait], stop: str) -> list[str]:
    waiting, lacking, others = [], [], []
    unknown = [(rank.rank, Phrase(rank.unreported)) for rank in trace.ranks if rank.unreported]
    for wait in sorted(held, key=lambda wait: not (wait.held and wait.held.handling)):
        waiting.append((wait.rank, rank_state.waiting(trace.ranks[wait.rank], wait)))
    main = {wait.rank for wait in held if wait.thread is None}
    for rank in trace.ranks:
        if rank.rank in main or rank.unreported:
            continue
        lack = next((wait for wait in held if rank.rank in wait.awaited and wait.rank != rank.rank), None)
        if lack:
            lacking.append((rank.rank, _lack(found, rank, lack, trace)))
        else:
            others.append((rank.rank, rank_state.stands(rank)))
    told = [*sentences(waiting), *sentences(lacking, stop), *sentences(others, "" if lacking else stop)]
    told += sentences(unknown)
    if not lacking and not others and trace.stopped is not None:
        told.append(f"The run was stopped at {clock(trace.stopped)}.")
    return told


def _lack(found: Calls, rank: Rank, wait: Wait, trace: Trace) -> Phrase:
    if wait.call.kind == "p2p":
        return rank_state.lacks_message(rank, wait)
    return rank_state.lacks(found, rank, meeting(trace, found, wait.call, [wait.rank]))


def _nobody_waits(trace: Trace) -> list[str]:
    """A sentence for runs in which no rank waits in a recorded call, claiming no more than is known."""
    if trace.world_size == 1 or any(rank.stuck_in for rank in trace.ranks):
        return []  # ranks creating a group may be waiting for each other
    placed = [rank for rank in trace.ranks if rank.ended is None and (rank.stuck_at or rank.leaving)]
    unknown = not all(map(blocked_in, placed))
    # A wait on a store leaves neither a record nor a frame: it looks like a loop.
    return [f"No rank was waiting for another{' in a call that is recorded' if unknown else ''}."]


def _not_exited(trace: Trace, held: list[Wait]) -> list[str]:
    """Describe ranks killed although their worker had finished: held by a thread, or by destroying the group."""
    if trace.stopped is None:
        return []
    waiting = {wait.rank for wait in held if wait.thread is None}
    alive = [
        rank.rank
        for rank in trace.ranks
        if rank.ended is not None and rank.exit_code is None and rank.signal is None and rank.rank not in waiting
    ]
    return sentences([(rank, Phrase("had left {its} worker, but {its} process had not ended")) for rank in alive])


def _meetings(trace: Trace, found: Calls, held: list[Wait]) -> list[Meeting]:
    """The collectives that ranks wait for, without duplicates."""
    waiting: dict[tuple, list[Wait]] = {}
    for wait in held:
        if wait.call.seq is not None:
            waiting.setdefault((wait.call.group, wait.call.seq), []).append(wait)
    return [meeting(trace, found, same[0].call, [wait.rank for wait in same]) for same in waiting.values()]


def _rest(
    trace: Trace, found: Calls, met: Meeting, held: list[Wait], cause: list[Difference], ring: set[int]
) -> list[str]:
    """Sentences about one collective that complement those about single ranks."""
    first = next(w.call for w in held if (w.rank, w.call.group, w.call.seq) == (met.waiting[0], met.group, met.seq))
    call = f"the {nth(trace.ranks[met.waiting[0]], first)}{at(first)} that {who(met.waiting)} waited in"
    main = {wait.rank for wait in held if wait.thread is None}
    said = []
    elsewhere = [rank for rank in met.missing if rank in main]
    if elsewhere and not ring.issuperset([*met.waiting, *elsewhere]):  # else the cycle has already said so
        said.append(f"{who(elsewhere).capitalize()} had not arrived at {call}.")
    here = [order[met.seq] for order in found.get(met.group, {}).values() if met.seq in order]
    said += brought(here)
    explained = said or any(stray.group == met.group and stray.seq <= met.seq for stray in cause)
    known = met.group == "default" or met.group in trace.groups or len(here) == trace.world_size
    if known and not met.missing and not explained and first.kind == "collective":
        said.append(f"Every rank had called {call}; why it did not complete, the recording does not say.")
    if met.group not in ("default", *trace.groups) and first.kind == "collective" and len(here) < trace.world_size:
        used = sorted(found.get(met.group, {}))
        said.append(f"Only {who(used)} used {first.on}; whether other ranks belong to it, the recording does not say.")
    return said


def _message(trace: Trace, wait: Wait) -> list[str]:
    """Describe what the peer of a message had done instead of the call that the message needs."""
    call = wait.call
    if call.kind != "p2p" or call.peer is None or not wait.awaited or not 0 <= call.peer < trace.world_size:
        return []
    peer = trace.ranks[call.peer]
    way = [s for s in peer.spans if s.kind == "p2p" and is_send(s) != is_send(call) and s.peer in (call.rank, None)]
    others = [span for span in way if span.tag != call.tag or span.group != call.group]
    verb = "sent" if not is_send(call) else "asked for"
    target = f"rank {call.rank} a message" if verb == "sent" else f"a message from rank {call.rank}"
    if others:
        kinds = {f"with tag {span.tag}{at(span)}": 0 for span in others}
        return [f"Rank {peer.rank} had {verb} {target} {listed(list(kinds)[:3])}, not with tag {call.tag}."]
    same = [span for span in way if span.tag == call.tag]
    if same:
        done = f"{times(len(same))}{site(same[-1])}"
        return [f"Rank {peer.rank} had {verb} {target} only {done}, and rank {call.rank} wants one more."]
    return _stray_message(trace, peer, call)


def _stray_message(trace: Trace, peer: Rank, call: Span) -> list[str]:
    """Describe a message between the peer and another rank that has no counterpart."""
    lost = [
        span
        for span in peer.spans
        if span.kind == "p2p" and is_send(span) != is_send(call) and span.peer is not None
        and counterpart(trace, span) is None
    ]  # fmt: skip
    if not lost:
        return []
    stray = lost[-1]
    verb, way = ("sent", "to") if is_send(stray) else ("asked for", "from")
    return [
        f"Rank {peer.rank} had {verb} a message {way} rank {stray.peer}{site(stray)} that nobody takes, "
        f"and none {way} rank {call.rank}."
    ]


def thread_errors(trace: Trace) -> list[str]:
    """Describe exceptions that ended threads, whose work other ranks may be waiting for."""
    return sentences([(rank.rank, phrase) for rank in trace.ranks for phrase in rank_state.thread_error(rank)])
