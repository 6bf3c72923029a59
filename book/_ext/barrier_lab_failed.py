"""A page with a cell that failed says so at its top, and the build leaves a list of such pages.

Jupyter Book goes on after a failed cell, so that one build finds all of them.  Without a note, the page
would look ready.  ``said_at_the_end.py`` prints the list when the build is over.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx

LIST = "failed_cells.json"  # in the build folder, beside html/
KEY = "failed_cell"
ANCHOR = "failed-cell"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def note_failure(app: Sphinx, doctree: nodes.document) -> None:
    """If a cell of this page failed: mark it, and put a note with a link to it at the top of the page."""
    page = app.env.docname
    about = NbMetadataCollector.get_exec_data(app.env, page)
    if about is None or about["succeeded"]:
        return
    cells = [node for node in doctree.findall(nodes.container) if node.get("nb_element") == "cell_code"]
    place = failed_place(cells)
    failure = {"cell": place + 1, "error": last_line(about["traceback"] or about["error"] or "")}
    NbMetadataCollector.set_doc_data(app.env, page, KEY, failure)
    if place < len(cells):
        cells[place]["ids"].append(ANCHOR)
    section = next(doctree.findall(nodes.section), doctree)
    section.insert(1 if section is not doctree else 0, note(failure))


def failed_place(cells: list[nodes.container]) -> int:
    """Which cell failed: the last one with a traceback, or else the first one that was not executed to its end."""
    with_traceback = [place for place, cell in enumerate(cells) if any(map(is_traceback, cell.findall()))]
    not_over = [place for place, cell in enumerate(cells) if not cell.get("exec_count")]
    return with_traceback[-1] if with_traceback else (not_over or [len(cells)])[0]


def is_traceback(node: nodes.Node) -> bool:
    """Whether this is the output of a cell that raised."""
    return isinstance(node, nodes.Element) and "traceback" in node.get("classes", ())


def last_line(traceback: str) -> str:
    """What was raised: the last line of a traceback, without its colours."""
    lines = [line.strip() for line in COLOURS.sub("", traceback).splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it was not executed to its end"


def note(failure: dict) -> nodes.admonition:
    """The box at the top of the page."""
    link = nodes.reference("", f"Cell {failure['cell']}", refid=ANCHOR, internal=True)
    words = nodes.paragraph("", "", link, nodes.Text(" of this page failed: "), nodes.literal("", failure["error"]))
    rest = nodes.paragraph("", "The cells below it were not run. What the page says there has not been checked.")
    title = nodes.title("", "When this book was built, a cell failed")
    return nodes.admonition("", title, words, rest, classes=["danger", "bl-failed-cell"])


def write_list(app: Sphinx, exception: Exception | None) -> None:
    """Leave the list for whoever has started the build: page, title, cell, error."""
    about = NbMetadataCollector.get_doc_data(app.env) if app.env else {}
    failed = [
        {"page": page, "title": app.env.titles[page].astext()} | data[KEY]
        for page, data in sorted(about.items())
        if KEY in data and page in app.env.titles
    ]
    (Path(app.outdir).parent / LIST).write_text(json.dumps(failed, indent=1))


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("doctree-read", note_failure)
    app.connect("build-finished", write_list)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
