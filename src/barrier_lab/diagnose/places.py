"""Lines of source code as a verdict writes them."""

from collections.abc import Sequence
from pathlib import Path

from barrier_lab.trace.model import Place, Span


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
