"""Format source locations for verdicts."""

from collections.abc import Sequence
from pathlib import Path

from barrier_lab.trace.model import Place, Span


def spot(place: Span | Place | None) -> str:
    """ "one_sided.py:21"; empty if the location is unknown."""
    return f"{Path(place.file).name}:{place.line}" if place and place.file else ""


def at(place: Span | Place | None) -> str:
    """ " (one_sided.py:21)", to be appended to a word; empty if the location is unknown."""
    return f" ({spot(place)})" if spot(place) else ""


CALLERS = 3  # shown per call


def site(span: Span) -> str:
    """The library function that made a call, the line, and its callers, to be appended to the call's name.

    ", made by DDP.forward (engine.py:31, called from main.py:12)".
    """
    made = f", made by {span.via}" if span.via else ""
    return f"{made}{path(span, span.callers)}"


def path(place: Span | Place, callers: Sequence[Place]) -> str:
    """ " (engine.py:31, called from main.py:12)": a line with its nearest callers and the outermost one."""
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


_IMPLICIT = ("__del__", "__exit__")  # called implicitly: the caller's line shows no call
