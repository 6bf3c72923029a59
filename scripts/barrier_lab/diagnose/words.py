"""Small words of the verdict: lists of ranks, ordinals, places, error messages."""

import re
from collections.abc import Sequence
from pathlib import Path

from barrier_lab.english import listed, ordinal, times, who
from barrier_lab.records import Place, Span

__all__ = [
    "at",
    "clock",
    "duration",
    "listed",
    "ordinal",
    "path",
    "site",
    "spoken",
    "spot",
    "summary",
    "times",
    "who",
]

BRIEF = 0.0995  # seconds: what is shorter is written in milliseconds


def spot(place: Span | Place | None) -> str:
    """ "one_sided.py:21", or nothing where the recording has no line."""
    return f"{Path(place.file).name}:{place.line}" if place and place.file else ""


def at(place: Span | Place | None) -> str:
    """The same as " (one_sided.py:21)", to stand behind a word."""
    return f" ({spot(place)})" if spot(place) else ""


CALLERS = 3  # shown of one call


def site(span: Span) -> str:
    """Who made a call, where, and through which callers, to stand behind its name.

    ", made by DDP.forward (engine.py:31, called from main.py:12)".
    """
    made = f", made by {span.via}" if span.via else ""
    return f"{made}{path(span, span.callers)}"


def path(place: Span | Place, callers: Sequence[Place]) -> str:
    """ " (engine.py:31, called from main.py:12)": a line and its nearest callers, the outermost among them."""
    where = spot(place)
    if not where:
        return ""
    spots = [spot(caller) for caller in callers if caller.function != "<module>"]
    spots = [here for here, before in zip(spots, [where, *spots], strict=False) if here != before]  # recursion
    if len(spots) > CALLERS:
        spots = [*spots[: CALLERS - 1], "…", spots[-1]]
    if place.function in _IMPLICIT:
        where = f"{where} in {place.function}"
    return f" ({where}, called from {', '.join(spots)})" if spots else f" ({where})"


_IMPLICIT = ("__del__", "__exit__")  # functions whose caller shows no call


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
_BELOW = re.compile(
    r"^\[(?:enforce fail at )?[^\]]*\.(?:cc|cpp|h|hpp):\d+\] "
)  # "[/pytorch/third_party/gloo/…/pair.cc:534] "
_SOCKET = re.compile(r"useIpv6: \w+, code: -?\d+, ")  # before "name: EADDRINUSE, message: address already in use"
_PEER = re.compile(r" ?\[[0-9a-fA-F.:]+\]:\d+")  # "[127.0.0.1]:40312": another one on each rank


def summary(error: str) -> str:
    """The line of a traceback that names the exception, without C++ places and peers' addresses, in 180 letters."""
    lines = error.strip().splitlines() or [""]
    after_frames = [i for i, line in enumerate(lines) if i and lines[i - 1].startswith(" ") and _SUMMARY.match(line)]
    line = lines[after_frames[-1]] if after_frames else lines[0]
    name, colon, message = line.partition(": ") if ": " in line else ("", "", line)
    for noise in (_BELOW, _SOCKET, _PEER):
        message = noise.sub("", message)
    for more in (". This ", ". Please ", ". Is "):
        message = message.split(more)[0]
    message = message.rstrip(". ")
    text = f"{name}{colon}{message}"
    return text if len(text) <= 180 else f"{text[:179]}…"
