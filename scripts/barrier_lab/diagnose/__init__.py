"""Say what happened in a run: who waits, for whom, and where every other rank stands.

Computed from the trace alone, for any script.  The words keep apart what the files show and what they cannot know:
a "deadline" is the runner's, a "time-out" is the process group's.
"""

from barrier_lab.diagnose import phrases
from barrier_lab.diagnose.completed import completed
from barrier_lab.diagnose.failure import failed, is_victim
from barrier_lab.diagnose.pairing import (
    Calls,
    Meeting,
    blocked_in,
    calls,
    meeting,
    members,
    mismatch,
    missing,
    shift,
    waits_for,
)
from barrier_lab.diagnose.phrases import Phrase, closed, counted, nth, on_group, sentences
from barrier_lab.diagnose.words import at, clock, group_name, listed, ordinal, who
from barrier_lab.trace import Rank, Span, Trace

__all__ = ["missing", "outcome", "stands", "verdict"]


def outcome(trace: Trace) -> str:
    """ "completed", "failed", "hung" or "interrupted": what the runner wrote, else what the ranks' files show."""
    if trace.outcome:
        return trace.outcome
    if any(rank.error and not is_victim(rank) for rank in trace.ranks):
        return "failed"
    if all(rank.ended is not None and not rank.error for rank in trace.ranks):
        return "completed"
    late = trace.deadline is not None and trace.end >= trace.deadline
    if any(rank.ended is None and (rank.stuck_at or late) for rank in trace.ranks):
        return "hung"
    return "failed" if any(rank.error for rank in trace.ranks) else "interrupted"


def verdict(trace: Trace) -> str:
    """What happened, in a few plain sentences."""
    if trace.message and not any(rank.started or rank.error for rank in trace.ranks):
        return closed(trace.message)
    how, found = outcome(trace), calls(trace)
    tell = {"completed": completed, "failed": failed, "hung": _hung, "interrupted": _interrupted}[how](trace)
    facts = [*_mismatch(found), *(_shift(found) if how != "completed" else [])]
    lead = [closed(trace.message)] if trace.message else []
    return " ".join([*lead, *tell, *facts]) or "The files of this run do not say what happened."


def stands(rank: Rank, moment: float | None = None) -> str:
    """Where a rank stood at a moment (None: at the end), to follow its name: "was in time.sleep (one_sided.py:25)"."""
    phrase = phrases.stands(rank, moment)
    return phrases.filled(phrase.text, 1, [] if phrase.t is None else [phrase.t])


def _hung(trace: Trace) -> list[str]:
    stop = _stop(trace)
    found = calls(trace)
    held = {rank.rank: span for rank in trace.ranks if (span := waits_for(rank))}
    meetings = _meetings(trace, found, held)
    waiting, lacking, others = [], [], []
    for rank in trace.ranks:
        lack = next((met for met in meetings if rank.rank in met.missing), None)
        if rank.rank in held or _waits_for_message(rank):
            waiting.append((rank.rank, phrases.waiting(rank)))
        elif lack:
            lacking.append((rank.rank, phrases.lacks(found, rank, lack)))
        else:
            others.append((rank.rank, phrases.stands(rank)))
    told = [*sentences(waiting), *sentences(lacking, stop), *sentences(others, "" if lacking else stop)]
    if not lacking and not others and trace.stopped is not None:
        told.append(f"The run was stopped at {clock(trace.stopped)}.")
    if not waiting and outcome(trace) == "hung":
        told += _nobody_waits(trace)
    rest = [sentence for met in meetings for sentence in _rest(trace, found, met, held)]
    return [*told, *_not_exited(trace), *dict.fromkeys(rest)]


def _nobody_waits(trace: Trace) -> list[str]:
    """Where no rank waits in a recorded call: what that says, and no more."""
    if trace.world_size == 1 or any(rank.stuck_in for rank in trace.ranks):
        return []  # those who make a group wait for each other, for all that is known
    placed = [rank for rank in trace.ranks if rank.ended is None and (rank.stuck_at or rank.leaving)]
    unknown = not all(map(blocked_in, placed))
    # A store's wait leaves neither a record nor a frame of its own: it looks like a loop.
    return [f"No rank was waiting for another{' in a call that is recorded' if unknown else ''}."]


def _not_exited(trace: Trace) -> list[str]:
    """Ranks that the runner had to end although their worker was over: a thread, or the end of the group, held them."""
    if trace.stopped is None:
        return []
    alive = [r.rank for r in trace.ranks if r.ended is not None and r.exit_code is None and r.signal is None]
    return sentences([(rank, Phrase("had left {its} worker, but {its} process had not ended")) for rank in alive])


def _stop(trace: Trace) -> str:
    """The clause that says of which moment the verdict speaks."""
    if trace.stopped is not None:
        return f"when the run was stopped at {clock(trace.stopped)}"
    hung = outcome(trace) == "hung"
    if hung and not any(rank.started for rank in trace.ranks):
        return "when the time for the start was over"
    if hung and trace.deadline is not None:
        return f"when the deadline passed at {clock(trace.deadline)}"
    return "by then"


def _interrupted(trace: Trace) -> list[str]:
    if trace.outcome:
        lead = f"The run was interrupted{f' at {clock(trace.stopped)}' if trace.stopped else ''}."
    else:
        lead = (
            f"The files end at {clock(trace.end)} and do not say how the run ended: "
            "it may still be going on, or what started it was killed."
        )
    return [lead, *_hung(trace)]


def _meetings(trace: Trace, found: Calls, held: dict[int, Span]) -> list[Meeting]:
    """The collectives that ranks wait for, each once."""
    waiting: dict[tuple, list[int]] = {}
    for rank, span in held.items():
        waiting.setdefault((span.group, span.seq), []).append(rank)
    return [meeting(trace, found, held[ranks[0]], ranks) for ranks in waiting.values()]


def _rest(trace: Trace, found: Calls, met: Meeting, held: dict[int, Span]) -> list[str]:
    """What the sentences per rank leave open about one collective."""
    span = held[met.waiting[0]]
    call = f"the {nth(trace.ranks[met.waiting[0]], span)}{at(span)} that {who(met.waiting)} waited in"
    used = members(trace, found, met.group)
    said = []
    if elsewhere := [rank for rank in met.missing if rank in held]:
        said.append(f"{who(elsewhere).capitalize()} had not come to {call}.")
    if not met.missing and not mismatch(found) and span.seq is not None and len(used) == trace.world_size:
        said.append(f"Every rank had called {call}; why it did not complete, the recording does not say.")
    if met.group != "default" and len(used) < trace.world_size:
        group = group_name(met.group)
        said.append(f"Only {who(used)} used {group}; whether other ranks belong to it, the recording does not say.")
    return said


def _waits_for_message(rank: Rank) -> bool:
    """Whether a rank waits in a call that has no place in the order of collectives: a message, or a handle."""
    span = blocked_in(rank)
    return bool(span and span.kind in ("p2p", "wait"))


def _mismatch(found: Calls) -> list[str]:
    """The first collective that the ranks call by different names."""
    spans = mismatch(found)
    if not spans:
        return []
    parts = [f"{s.name}{at(s)} on {who([s.rank])}" for s in spans[:3]]
    first = f"the {ordinal(spans[0].seq or 0)} collective{on_group(spans[0].group)}"
    before = [s for s in found[spans[0].group or ""][spans[0].rank].values() if (s.seq or 0) < (spans[0].seq or 0)]
    if before:  # what a reader of the script may not have counted, such as the two of a broadcast_object_list
        first = f"After {counted(before)}, {first}"
    first = f"{first[0].upper()}{first[1:]}"
    return [f"{first} was {listed(parts)}: these were paired, and they are different collectives."]


def _shift(found: Calls) -> list[str]:
    """The first two calls that pair across lines, where one rank has called less often."""
    pair = shift(found)
    if not pair:
        return []
    mine, other = pair
    return [
        f"Calls pair by their order: the {ordinal(mine.seq or 0)} collective of {who([mine.rank])}{at(mine)} "
        f"was paired with that of {who([other.rank])}{at(other)}."
    ]
