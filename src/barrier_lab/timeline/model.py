"""The content of a timeline, before it is drawn or described in words."""

from dataclasses import dataclass

from barrier_lab.timeline.bars import Row, rows
from barrier_lab.timeline.releases import Mismatch, Release, ordinals, releases
from barrier_lab.timeline.shapes import LEAST, WIDTH
from barrier_lab.trace.model import Trace

SHORTEST = 0.001  # minimum length of a timeline, in seconds


@dataclass(slots=True)
class Story:
    """The rows of a timeline, the released barriers, and the mismatched calls."""

    rows: list[Row]
    released: list[Release]
    mismatched: list[Mismatch]


def tell(trace: Trace) -> Story:
    """Build the story of a trace, merging anything too short to be drawn."""
    order = ordinals(trace)
    released, mismatched = releases(trace, order)
    return Story(rows(trace, order, LEAST * max(trace.end, SHORTEST) / (WIDTH - 80)), released, mismatched)
