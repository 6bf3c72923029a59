"""Read a run directory.  Does not require torch."""

from barrier_lab.trace.model import Output, Place, Rank, Span, Trace
from barrier_lab.trace.reader import read, to_dict

__all__ = ["Output", "Place", "Rank", "Span", "Trace", "read", "to_dict"]
