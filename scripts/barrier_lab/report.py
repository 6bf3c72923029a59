"""Show a learner lines of their own file: where each rank stands, and a traceback without anybody else's frames."""

import linecache
import re
from pathlib import Path

from barrier_lab.diagnose import stands
from barrier_lab.diagnose.words import who
from barrier_lab.trace import Place, Trace

_FRAME = re.compile(r'^  File "(?P<file>[^"]*)", line \d+')


def hang_lines(trace: Trace) -> str:
    """One line per place: which ranks stand there, and the code of that line."""
    linecache.checkcache()
    places: dict[str, list[int]] = {}
    for rank in trace.ranks:
        inside = rank.stuck_at is not None and rank.ended is None
        places.setdefault(_place(rank.stuck_at) if inside else stands(rank), []).append(rank.rank)
    return "\n".join(f"{who(ranks).capitalize()} {said}" for said, ranks in places.items())


def _place(place: Place) -> str:
    code = linecache.getline(place.file, place.line).strip()
    return f"at {Path(place.file).name}:{place.line}{f'  {code}' if code else ''}"


def own_traceback(text: str) -> str:
    """A traceback without the frames of this package and of installed ones."""
    kept, keep = [], True
    for line in text.rstrip().splitlines():
        frame = _FRAME.match(line)
        if frame:
            keep = "site-packages" not in frame["file"] and not Path(frame["file"]).is_relative_to(Path(__file__).parent)
        elif not line.startswith("    "):
            keep = True
        if keep:
            kept.append(line)
    return "\n".join(kept)
