"""Compare what a source says with what a run measured.

A lesson makes a claim in the cell that measured it.  The cell, and with it the build, fails unless the
measurement supports the verdict.  The claim is displayed below the cell, and the page "What the sources
say, and what we measured" collects the claims of all lessons from the executed notebooks.
"""

import html
import re
from dataclasses import asdict, dataclass

SOURCES = {
    "A": "lart, blog post",
    "B": "reference page",
    "C": "DDP tutorial",
    "D": "article on synchronising",
    "E": "note on a stall",
}
VERDICTS = ("holds", "holds in part", "holds no longer", "does not hold")
METADATA = "barrier_lab_claim"  # key of the claim in the output metadata of an executed cell


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement from a source, what we measured, and whether the two agree."""

    source: str  # "A2": the source's letter and the number of the experiment in that source
    says: str  # the statement, in our words
    verdict: str  # one of VERDICTS
    measured: str  # what this run measured, with numbers
    sharper: str | None = None  # a more precise statement that holds, if the source's holds only in part

    @property
    def anchor(self) -> str:
        """The HTML id of this claim on the page of its lesson."""
        return "claim-" + re.sub(r"[^a-z0-9]+", "-", f"{self.source} {self.says}".lower()).strip("-")[:60]

    def __str__(self) -> str:
        lines = [
            f"Source {self.source[0]} says: {self.says}",
            f"Measured: {self.measured}",
            f"Verdict: {self.verdict}.",
        ]
        return "\n".join([*lines, f"More exactly: {self.sharper}"] if self.sharper else lines)

    def _repr_mimebundle_(self, include=None, exclude=None) -> tuple[dict, dict]:
        return {"text/html": to_html(self), "text/plain": str(self)}, {METADATA: asdict(self)}


def claim(source: str, says: str, verdict: str, *, measured: str, shown: bool, sharper: str | None = None) -> Claim:
    """Compare a source's statement with a measurement.  Use as the last expression of a cell.

    ``shown`` is the condition that supports ``verdict``, computed from the run.  Raises ``AssertionError`` if it is
    false, and ``ValueError`` for an unknown source or verdict.
    """
    if not re.fullmatch(r"[A-E]\d+", source):
        raise ValueError(f"source is {source!r}; give a letter from A to E and a number, such as 'A2'.")
    if verdict not in VERDICTS:
        raise ValueError(f"verdict is {verdict!r}; give one of: {', '.join(VERDICTS)}.")
    if not shown:
        raise AssertionError(f'The verdict "{verdict}" on "{says}" ({source}) is not what this run shows: {measured}')
    return Claim(source, says, verdict, measured, sharper)


def to_html(claim: Claim) -> str:
    """Render the claim as an HTML box for the page of its lesson."""
    letter = claim.source[0]
    source = f'<a href="../book/sources.html#source-{letter.lower()}">Source {letter}</a> says'  # on a lesson's page
    rows = [("Measured here", claim.measured), ("Verdict", claim.verdict)]
    if claim.sharper:
        rows.append(("More exactly", claim.sharper))
    said = f"<dt>{source}</dt><dd>{html.escape(claim.says)}</dd>"
    body = said + "".join(f"<dt>{term}</dt><dd>{html.escape(text)}</dd>" for term, text in rows)
    kind = claim.verdict.replace(" ", "-")
    return f'<dl class="bl-claim bl-claim-{kind}" id="{claim.anchor}">{body}</dl>'
