"""Make the files of a new lesson, ready to run: ``python -m barrier_lab new NAME``."""

from importlib import resources
from pathlib import Path

from barrier_lab.errors import UsageError

PIECES = {  # template -> file
    "script.py.txt": "scripts/{name}.py",
    "lesson.md.txt": "notebooks/{name}.md",
    "test.py.txt": "tests/test_{name}.py",
    "stub.py.txt": "scripts/exercises/{name}/{name}.py",
    "solution.py.txt": "scripts/exercises/{name}/solution.py",
    "check.py.txt": "scripts/exercises/{name}/check.py",
}
TOC = "_toc.yml"


def make(name: str, root: Path) -> list[Path]:
    """Write script, notebook, test and exercise of a lesson below ``root``, and enter it in the table of contents.

    Returns the files.  ``UsageError`` if the name is no Python identifier or is taken, or if ``root`` is not the
    folder of the book; nothing is written then.
    """
    if not (name.isidentifier() and name.isascii() and name.islower()):
        raise UsageError(
            f"A lesson cannot be named {name!r}: give a Python name in small letters, such as late_arrival."
        )
    toc = root / TOC
    if not toc.is_file() or not (root / "notebooks").is_dir():
        raise UsageError(f"{root} is not the folder of the book: go there, then call new again.")
    files = {template: root / path.format(name=name) for template, path in PIECES.items()}
    if taken := [path for path in files.values() if path.exists()]:
        raise UsageError(f"{taken[0].relative_to(root)} is there already: choose another name.")
    templates = resources.files(__package__) / "templates"
    for template, path in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((templates / template).read_text(encoding="utf-8").replace("NAME", name), encoding="utf-8")
    toc.write_text(_entered(toc.read_text(encoding="utf-8"), name), encoding="utf-8")
    return [*files.values(), toc]


def _entered(toc: str, name: str) -> str:
    """The table of contents with one more lesson, after the last one."""
    lines = toc.splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if "file: notebooks/" in line)
    indent = lines[last].partition("-")[0]
    return "".join([*lines[: last + 1], f"{indent}- file: notebooks/{name}\n", *lines[last + 1 :]])
