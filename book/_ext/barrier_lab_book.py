"""The directive ``{claims}``: the table of what the sources say and what the lessons measured.

Sphinx reads pages in alphabetical order, so the table is filled only when every notebook has run.
It is read from the executed notebooks, whose cells carry their claims in the metadata of an output.
"""

import json
import os
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from barrier_lab.claims import METADATA, SOURCES, Claim
from barrier_lab.display import notebook

HEAD = ("Source", "What it says", "What this build measured", "Verdict")
WIDTHS = (12, 30, 43, 15)


class ClaimsNode(nodes.General, nodes.Element):
    """The place of the table."""


class Claims(SphinxDirective):
    """``{claims}`` takes no arguments."""

    def run(self) -> list[nodes.Node]:
        return [ClaimsNode()]


def read_claims(app: Sphinx) -> list[tuple[str, Claim]]:
    """The claims of all executed notebooks with the page of each, by source."""
    executed = Path(app.outdir).parent / "jupyter_execute"
    found = []
    for page in sorted(app.env.found_docs):
        path = executed / f"{page}.ipynb"
        if path.exists():
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            notes = [output.get("metadata", {}) for cell in cells for output in cell.get("outputs", [])]
            found += [(page, Claim(**note[METADATA])) for note in notes if METADATA in note]
    return sorted(found, key=lambda item: (item[1].source[0], int(item[1].source[1:])))


def fill_tables(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put the table where the directive stood."""
    for place in doctree.findall(ClaimsNode):
        claims = read_claims(app)
        place.replace_self([count(claims), table(app, page, claims)] if claims else [text("No lesson makes a claim.")])


def count(claims: list[tuple[str, Claim]]) -> nodes.paragraph:
    """How many statements there are, and how many of them hold."""
    whole = sum(claim.verdict == "holds" for _, claim in claims)
    return text(f"{len(claims)} statements; {whole} hold as they stand, {len(claims) - whole} do not, or only in part.")


def text(words: str) -> nodes.paragraph:
    """A paragraph of plain text."""
    return nodes.paragraph("", words)


def table(app: Sphinx, page: str, claims: list[tuple[str, Claim]]) -> nodes.table:
    """One row for each claim."""
    body = nodes.tbody("", *(row(cells_of(app, page, lesson, claim)) for lesson, claim in claims))
    head = nodes.thead("", row([[text(words)] for words in HEAD]))
    columns = [nodes.colspec(colwidth=width) for width in WIDTHS]
    return nodes.table(
        "", nodes.tgroup("", *columns, head, body, cols=len(columns)), classes=["bl-claims", "colwidths-given"]
    )


def row(cells: list[list[nodes.Node]]) -> nodes.row:
    """A table row of the given cells."""
    return nodes.row("", *(nodes.entry("", *cell) for cell in cells))


def cells_of(app: Sphinx, page: str, lesson: str, claim: Claim) -> list[list[nodes.Node]]:
    """Source, statement, measurement with its lesson, verdict."""
    letter = claim.source[0]
    source = link(app, page, "book/sources", f"source-{letter.lower()}", f"Source {letter}, {SOURCES[letter]}")
    title = app.env.titles[lesson].astext()
    measured = [text(claim.measured)]
    if claim.sharper:
        measured.append(text(f"More exactly: {claim.sharper}"))
    measured.append(nodes.paragraph("", "Run in: ", link(app, page, lesson, claim.anchor, title)))
    kind = claim.verdict.replace(" ", "-")
    verdict = nodes.inline("", claim.verdict, classes=["bl-holding", f"bl-holding-{kind}"])
    return [[nodes.paragraph("", "", source)], [text(claim.says)], measured, [nodes.paragraph("", "", verdict)]]


def link(app: Sphinx, page: str, target: str, anchor: str, words: str) -> nodes.reference:
    """A link from one page of the book to an anchor of another."""
    uri = f"{app.builder.get_relative_uri(page, target)}#{anchor}"
    return nodes.reference("", words, refuri=uri, internal=True)


def write_again(app: Sphinx, env) -> list[str]:
    """Write the table's page anew in every build: its rows come from other pages."""
    return [page for page in ["book/sources_measured"] if page in env.found_docs]


def setup(app: Sphinx) -> dict:
    """Register the directive with Sphinx, and leave the progress of each run out of the pages."""
    os.environ[notebook.SWITCH] = "off"
    app.add_node(ClaimsNode)
    app.add_directive("claims", Claims)
    app.connect("doctree-resolved", fill_tables)
    app.connect("env-updated", write_again)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
