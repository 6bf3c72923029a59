"""Show a learner the lines of their own file: where each rank is, and a traceback without library frames."""

import linecache
from pathlib import Path

from barrier_lab.diagnose import stands, verdict
from barrier_lab.diagnose.error_summary import summary
from barrier_lab.diagnose.failure import is_victim
from barrier_lab.english import who
from barrier_lab.trace.model import Place, Trace
from barrier_lab.trace.traceback_lines import owners


def hang_lines(trace: Trace) -> str:
    """One line per location: the ranks that are there, and the source line."""
    linecache.checkcache()
    places: dict[str, list[int]] = {}
    for rank in trace.ranks:
        inside = rank.stuck_at is not None and rank.ended is None
        places.setdefault(_place(rank.stuck_at) if inside else stands(rank), []).append(rank.rank)
    return "\n".join(f"{who(ranks).capitalize()} {said}" for said, ranks in places.items())


def _place(place: Place) -> str:
    code = linecache.getline(place.file, place.line).strip()
    return f"at {Path(place.file).name}:{place.line}{f'  {code}' if code else ''}"


def crash_lines(trace: Trace) -> str:
    """The traceback of the ranks that failed first, or else the verdict, which reports signals and exit codes."""
    guilty = [rank for rank in trace.ranks if rank.error and not is_victim(rank)]
    if not guilty:
        return verdict(trace)
    first = min(guilty, key=lambda rank: rank.ended if rank.ended is not None else 0.0)
    text = own_traceback(first.error or "")
    if not first.started:
        return text
    what = (first.error_at, summary(first.error or ""))
    alike = [rank.rank for rank in guilty if (rank.error_at, summary(rank.error or "")) == what]
    others = "" if len(alike) == len(trace.ranks) else f"\n\n{verdict(trace)}"
    return f"{who(alike).capitalize()}:\n{text}{others}"


def own_traceback(text: str) -> str:
    """A traceback without the frames of installed packages and of this one."""
    lines = text.rstrip().splitlines()
    return "\n".join(line for line, whose in zip(lines, owners(lines), strict=True) if whose is None)
