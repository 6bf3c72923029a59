"""Small words of the verdict: lists of ranks, ordinals, places, error messages."""

import re
from collections.abc import Iterable
from pathlib import Path

from barrier_lab.trace import Place, Span


def ordinal(n: int) -> str:
    """1 -> "1st", 12 -> "12th"."""
    ending = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def times(n: int) -> str:
    """1 -> "once", 2 -> "twice", 3 -> "3 times"."""
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def listed(items: Iterable[str]) -> str:
    """ "a, b and c"."""
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def who(ranks: Iterable[int]) -> str:
    """[3] -> "rank 3"; [0, 1, 2, 5] -> "ranks 0-2 and 5"."""
    runs: list[list[int]] = []
    for rank in sorted(ranks):
        if runs and runs[-1][-1] == rank - 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    parts = []
    for run in runs:
        parts += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else [str(rank) for rank in run]
    single = len(runs) == 1 and len(runs[0]) == 1
    return f"{'rank' if single else 'ranks'} {listed(parts)}"


def spot(place: Span | Place | None) -> str:
    """ "one_sided.py:21", or nothing where the recording has no line."""
    return f"{Path(place.file).name}:{place.line}" if place and place.file else ""


def at(place: Span | Place | None) -> str:
    """The same as " (one_sided.py:21)", to stand behind a word."""
    return f" ({spot(place)})" if spot(place) else ""


def spoken(name: str) -> str:
    """A span's name as the reader wrote it."""
    return {"sleep": "time.sleep", "wait": "wait()"}.get(name, name)


def seconds(t: float) -> str:
    """ "6.0 s"; below a tenth, "0.03 s"."""
    return f"{t:.2f} s" if 0 <= t < 0.095 else f"{t:.1f} s"


_SUMMARY = re.compile(r"^[A-Za-z_][\w.]*(: .*)?$")
_BELOW = re.compile(r"^\[[^\]]*\.(?:cc|cpp|h|hpp):\d+\] ")  # "[/pytorch/third_party/gloo/…/pair.cc:534] "
_PEER = re.compile(r" ?\[[0-9a-fA-F.:]+\]:\d+")  # "[127.0.0.1]:40312": another one on each rank


def summary(error: str) -> str:
    """The line of a traceback that names the exception, without C++ places and peers' addresses, in 160 letters."""
    lines = error.strip().splitlines() or [""]
    after_frames = [i for i, line in enumerate(lines) if i and lines[i - 1].startswith(" ") and _SUMMARY.match(line)]
    line = lines[after_frames[-1]] if after_frames else lines[0]
    name, colon, message = line.partition(": ")
    message = _PEER.sub("", _BELOW.sub("", message)).split(". This ")[0].split(". Please ")[0].rstrip(". ")
    text = f"{name}{colon}{message}"
    return text if len(text) <= 160 else f"{text[:159]}…"
