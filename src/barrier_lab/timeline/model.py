"""All that a timeline tells of a trace, before it is drawn or put into words."""

from dataclasses import dataclass

from barrier_lab.timeline.bars import Row, rows
from barrier_lab.timeline.releases import Mismatch, Release, ordinals, releases
from barrier_lab.timeline.shapes import LEAST, WIDTH
from barrier_lab.trace.model import Trace

SHORTEST = 0.001  # seconds: a timeline is at least this long


@dataclass(slots=True)
class Story:
    """The rows of a timeline, the barriers that were released, and the calls that do not match."""

    rows: list[Row]
    released: list[Release]
    mismatched: list[Mismatch]


def tell(trace: Trace) -> Story:
    """Read the story out of a trace; what is too short to be drawn is merged."""
    order = ordinals(trace)
    released, mismatched = releases(trace, order)
    return Story(rows(trace, order, LEAST * max(trace.end, SHORTEST) / (WIDTH - 80)), released, mismatched)
