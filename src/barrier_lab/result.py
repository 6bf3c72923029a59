"""``Run``, the result of ``run``."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from barrier_lab import diagnose
from barrier_lab.temporary_folder import Folder
from barrier_lab.trace import Output, Rank, Span, Trace, to_dict


@dataclass
class Run:
    """A finished run: outcome, verdict, recorded spans, output and timeline.

    ``outcome``: "completed", "failed", "hung" or "interrupted".  ``trace`` holds everything that was recorded, with
    times in seconds since the common start.
    """

    trace: Trace
    _folder: Folder | None = field(default=None, repr=False)  # removed together with this object

    @property
    def directory(self) -> Path:
        """The run directory."""
        return self.trace.directory

    @property
    def ranks(self) -> list[Rank]:
        """The ranks, in order."""
        return self.trace.ranks

    @cached_property
    def outcome(self) -> str:
        """One of "completed", "failed", "hung", "interrupted"."""
        return diagnose.outcome(self.trace)

    @cached_property
    def verdict(self) -> str:
        """What happened, in a few sentences."""
        return diagnose.verdict(self.trace)

    def spans(self, rank: int | None = None, name: str | None = None) -> list[Span]:
        """The recorded spans sorted by begin, optionally only those of one rank or with one name."""
        ranks = self.ranks if rank is None else [self.ranks[rank]]
        found = [span for r in ranks for span in r.spans if name in (None, span.name)]
        return sorted(found, key=lambda span: span.begin)

    def lines(self) -> list[tuple[int, Output]]:
        """All printed lines as (rank, line) pairs, sorted by time."""
        return sorted(((r.rank, line) for r in self.ranks for line in r.output), key=lambda pair: pair[1].t)

    def line(self, rank: int, text: str) -> Output:
        """The first line printed by ``rank`` that contains ``text``.  Raises ``LookupError`` if there is none."""
        for line in self.ranks[rank].output:
            if text in line.text:
                return line
        raise LookupError(f"rank {rank} printed no line with {text!r}")

    @property
    def text(self) -> str:
        """The output of all ranks sorted by time, each line prefixed with its time and rank."""
        return "\n".join(f"{line.t:8.3f} s  rank {rank} | {line.text}" for rank, line in self.lines())

    def figure(self, title: str | None = None):
        """The timeline as a matplotlib figure."""
        from barrier_lab import timeline  # matplotlib takes half a second to import

        return timeline.draw(self.trace, title)

    def to_dict(self) -> dict:
        """The run as a JSON-serializable dict, as printed by ``--json``."""
        facts = to_dict(self.trace)
        return {
            "schema": facts.pop("schema"),
            "experiment": facts.pop("experiment"),
            "parameters": facts.pop("parameters"),
            "outcome": self.outcome,
            "verdict": self.verdict,
        } | facts

    def __str__(self) -> str:
        return "\n".join(part for part in (self.text, self.verdict) if part)

    __repr__ = __str__

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        """Output, timeline and verdict as HTML and as plain text."""
        from barrier_lab import timeline
        from barrier_lab.display import html

        described = "\n\n".join(part for part in (self.text, timeline.describe(self.trace), self.verdict) if part)
        return {"text/html": html.to_html(self.trace, self.outcome, self.verdict), "text/plain": described}
