"""Verdict of a completed run: when it finished, which ranks waited for which, and anything suspicious."""

from barrier_lab.diagnose.between_ranks import brought, first_difference, silence
from barrier_lab.diagnose.durations import duration
from barrier_lab.diagnose.failure import absent, failed_call, is_timeout
from barrier_lab.diagnose.first_difference import differences
from barrier_lab.diagnose.meetings import Calls, calls, dropped, with_earlier
from barrier_lab.diagnose.places import at, spot
from barrier_lab.diagnose.rank_state import last_call, nth
from barrier_lab.diagnose.sentences import Phrase, sentences
from barrier_lab.english import listed, times, who
from barrier_lab.trace.model import ALL_MEET, Trace


def completed(trace: Trace) -> list[str]:
    """Sentences about caught errors, when the ranks finished, the longest wait, and differing call counts."""
    found = calls(trace)
    here = [rank for rank in trace.ranks if not rank.unreported]
    everyone = {1: "The only rank", 2: "Both ranks"}.get(trace.world_size, f"All {trace.world_size} ranks")
    if len(here) < trace.world_size:
        everyone = who(rank.rank for rank in here).capitalize()
    ended = [rank.ended for rank in here if rank.ended is not None]
    if len(ended) == len(here):
        first = [f"{everyone} finished {'at' if len(here) == 1 else 'by'} {duration(max(ended))}."]
    else:
        left = [(r.rank, Phrase(f"left {last_call(r).strip() or 'at once'}")) for r in here if r.ended is None]
        first = [f"{everyone} exited with code 0, but not all came to the end of their worker.", *sentences(left)]
    caught = _caught(trace, found)  # a wait ended by a timeout may be longer than any successful one
    waited = [] if caught else longest_wait(trace, found)[1]
    first += sentences([(rank.rank, Phrase(rank.unreported)) for rank in trace.ranks if rank.unreported])
    return [*caught, *first, *waited, *_counts(trace, found), *_odd_pairs(with_earlier(trace, found)), *silence(trace)]


def _odd_pairs(found: Calls) -> list[str]:
    """Describe calls that were paired without an error although they are different calls or their arguments differ."""
    said = [first_difference(found, stray) for stray in differences(found)[:1]]
    for by_rank in found.values():
        for seq in next(iter(by_rank.values())):
            if told := brought([order[seq] for order in by_rank.values() if seq in order]):
                return [*said, *told]
    return said


def longest_wait(trace: Trace, found: Calls) -> tuple[float, list[str]]:
    """Seconds of the longest wait for the last rank, among collectives in which all wait for it, and a sentence."""
    by_rank = found.get("default", {})
    longest, paired = 0.01, []
    for seq in by_rank.get(0, {}):
        here = [order[seq] for order in by_rank.values() if seq in order]
        begins = [s.begin for s in here if s.blocked and s.end is not None and s.name in ALL_MEET]
        if len(begins) == trace.world_size and max(begins) - min(begins) > longest:
            longest, paired = max(begins) - min(begins), here
    if not paired:
        return 0.0, []
    *early, last = sorted(paired, key=lambda s: s.begin)
    waits = {s.rank: (s.end or s.begin) - s.begin for s in early}  # time blocked, as shown in the timeline
    took = max(waits.values())
    early = [s for s in early if waits[s.rank] > took / 2]
    lines = [line for line in dict.fromkeys(map(spot, early)) if line]
    where = f" ({', '.join(lines[:2])})" if lines else ""
    call = max((nth(trace.ranks[s.rank], s) for s in [last, *early]), key=len)  # the longest text names the group
    return took, [
        f"The longest wait was in the {call}: {who(s.rank for s in early)}{where} "
        f"waited {'up to ' if len(early) > 1 else ''}{duration(took)} for {who([last.rank])}"
        f"{'' if spot(last) in lines else at(last)}, the last to call it."
    ]


def _counts(trace: Trace, found: Calls) -> list[str]:
    """Describe how often each rank called barrier, if the counts differ."""
    by_rank = found.get("default", {})
    counts = {
        rank.rank: sum(span.name == "barrier" for span in by_rank.get(rank.rank, {}).values())
        + dropped(rank, "default", "barrier")
        for rank in trace.ranks
        if not rank.unreported
    }
    if len(set(counts.values())) < 2:
        return []
    groups = {n: who(r for r in counts if counts[r] == n) for n in sorted(set(counts.values()), reverse=True)}
    parts = [f"{ranks} {times(n) if n else 'never'}" for n, ranks in groups.items()]
    return [f"The ranks called barrier different numbers of times: {listed(parts)}."]


def _caught(trace: Trace, found: Calls) -> list[str]:
    """Describe failed calls whose exceptions were caught: the number, and the first of each rank."""
    broken = [[s for s in rank.spans if s.error and s.blocked] for rank in trace.ranks]
    count = sum(map(len, broken))
    if not count:
        return []
    told = sentences([(n, failed_call(trace.ranks[n], spans[0])) for n, spans in enumerate(broken) if spans])
    ended = [s for spans in broken for s in spans if s.seq is not None and is_timeout(s.error)]
    missing = sentences(absent(trace, found, min(ended, key=lambda s: s.end or 0.0)), "by then") if ended else []
    return [f"The script caught {'an error' if count == 1 else f'{count} errors'} and went on.", *told, *missing]
