"""Small words of the verdict: lists of ranks, ordinals, places, error messages."""

import re
from collections.abc import Iterable
from pathlib import Path

from barrier_lab.trace import Place, Span

BRIEF = 0.0995  # seconds: what is shorter is written in milliseconds


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


def group_name(group: str) -> str:
    """The first group of ``dist.new_group``, which torch calls "1", is "new group 1"."""
    return f"new group {group}" if group.isdigit() else f"group {group}"


def spoken(name: str) -> str:
    """A span's name as the reader wrote it."""
    return {"sleep": "time.sleep", "wait": "wait()"}.get(name, name)


def clock(t: float) -> str:
    """When a run was stopped: "6.0 s"; in the first tenth of a second, "9 ms"."""
    return duration(t) if 0 <= t < BRIEF else f"{t:.1f} s"


def duration(t: float) -> str:
    """How long something took, or when it was: "1.20 s"; below a tenth of a second, "12 ms" or "0.3 ms"."""
    if t >= 99.5:
        return f"{t:.0f} s"
    if t >= BRIEF or t < 0:
        return f"{t:.2f} s"
    if t < 0.00005:
        return "<0.1 ms"
    return f"{t * 1e3:.0f} ms" if t >= 0.00995 else f"{t * 1e3:.1f} ms"


_SUMMARY = re.compile(r"^[A-Za-z_][\w.]*(: .*)?$")
_BELOW = re.compile(r"^\[[^\]]*\.(?:cc|cpp|h|hpp):\d+\] ")  # "[/pytorch/third_party/gloo/…/pair.cc:534] "
_SOCKET = re.compile(r"useIpv6: \w+, code: -?\d+, ")  # before "name: EADDRINUSE, message: address already in use"
_PEER = re.compile(r" ?\[[0-9a-fA-F.:]+\]:\d+")  # "[127.0.0.1]:40312": another one on each rank


def summary(error: str) -> str:
    """The line of a traceback that names the exception, without C++ places and peers' addresses, in 180 letters."""
    lines = error.strip().splitlines() or [""]
    after_frames = [i for i, line in enumerate(lines) if i and lines[i - 1].startswith(" ") and _SUMMARY.match(line)]
    line = lines[after_frames[-1]] if after_frames else lines[0]
    name, colon, message = line.partition(": ")
    for noise in (_BELOW, _SOCKET, _PEER):
        message = noise.sub("", message)
    message = message.split(". This ")[0].split(". Please ")[0].rstrip(". ")
    text = f"{name}{colon}{message}"
    return text if len(text) <= 180 else f"{text[:179]}…"
