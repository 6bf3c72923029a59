"""What pages say of lessons and scripts, taken from them: the table of lessons, their minutes, numbers of lines.

``{lessons}`` is the table of all lessons, ``{minutes}`` a lesson's own time: both from ``lesson:`` in the front matter.
``{lesson-count}`` is the number of lessons.  ``{line}`` with the text of a line of a script, as in
``{line}`cost dist.all_reduce(```, is the number of that line; the build fails if there is no such line, or more than
one.  With `` #2`` at its end it is the second of exactly as many.
"""

import re
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole

HEAD = "| Lesson | The question | Read | Exercise |\n|---|---|---:|---:|"


def front_matter(path: Path) -> dict:
    """The YAML at the head of a page; nothing if there is none."""
    head, _, rest = path.read_text(encoding="utf-8").partition("---\n")
    return {} if head else yaml.safe_load(rest.partition("\n---\n")[0])


def lessons(root: Path) -> dict[str, dict]:
    """The pages that are lessons, in the order of the table of contents: question and minutes of each."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    pages = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    found = {page: front_matter(root / f"{page}.md").get("lesson") for page in pages}
    return {page: about for page, about in found.items() if about}


class Lessons(SphinxDirective):
    """``{lessons}``: a row for each."""

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        rows = [HEAD]
        for page, about in lessons(root).items():
            self.env.note_dependency(f"{page}.md")
            rows.append(f"| [](/{page}.md) | {about['question']} | {about['read']} | {about['exercise']} |")
        return self.parse_text_to_nodes("\n".join(rows))


class Minutes(SphinxDirective):
    """``{minutes}``: how long this lesson takes."""

    def run(self) -> list[nodes.Node]:
        about = front_matter(Path(self.env.doc2path(self.env.docname)))["lesson"]
        return [nodes.paragraph("", f"{about['read']} minutes to read, {about['exercise']} for the exercise.")]


class LessonCount(SphinxRole):
    """``{lesson-count}`lessons```: their number, before the text."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return [nodes.Text(f"{len(lessons(Path(self.env.srcdir)))} {self.text}")], []


def line_number(source: str, wanted: str) -> int:
    """The number of the line that contains a text.  ``LookupError`` if none does, or if it is not clear which one."""
    last = re.fullmatch(r"(.*) #(\d+)", wanted)
    text, count = (last[1], int(last[2])) if last else (wanted, 1)
    found = [number for number, line in enumerate(source.splitlines(), start=1) if text in line]
    if len(found) != count:
        raise LookupError(f"{len(found)} lines contain {text!r}")
    return found[-1]


class LineNumber(SphinxRole):
    """``{line}`cost dist.all_reduce(```: script, blank, text of the line."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        script, _, wanted = self.text.partition(" ")
        self.env.note_dependency(f"scripts/{script}.py")
        try:
            number = line_number(Path(self.env.srcdir, "scripts", f"{script}.py").read_text(encoding="utf-8"), wanted)
        except (OSError, LookupError) as error:
            message = self.inliner.reporter.warning(f"In scripts/{script}.py: {error}", line=self.lineno)
            return [nodes.problematic(self.rawtext, self.rawtext)], [message]
        return [nodes.Text(str(number))], []


def setup(app: Sphinx) -> dict:
    """Register with Sphinx."""
    app.add_directive("lessons", Lessons)
    app.add_directive("minutes", Minutes)
    app.add_role("lesson-count", LessonCount())
    app.add_role("line", LineNumber())
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
