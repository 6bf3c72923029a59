"""Links from the runs on the pages to the lessons on what happened in them."""

import html
import re

from sphinx.application import Sphinx

# As ``barrier_lab.display.html`` writes it, with the address that Jupyter understands.
_MORE = re.compile(r'<p class="bl-more">(.*?)<a href="\.\./(notebooks/\w+)\.md">\w+</a></p>')


def link_lessons(app: Sphinx, page: str, template: str, context: dict, doctree: object) -> None:
    """Let the links lead to the pages of the lessons, under their titles; no page links to itself."""

    def link(found: re.Match) -> str:
        words, lesson = found.groups()
        if lesson == page or lesson not in app.env.titles:
            return ""
        address = app.builder.get_relative_uri(page, lesson)
        return f'<p class="bl-more">{words}<a href="{address}">{html.escape(app.env.titles[lesson].astext())}</a></p>'

    if "body" in context:
        context["body"] = _MORE.sub(link, context["body"])


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.connect("html-page-context", link_lessons)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
