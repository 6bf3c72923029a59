"""The notebooks of a build are executed several at a time: all of them, none in another's way, none left behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

import pytest
from conftest import ROOT
from left_over import assert_nothing_left, marked_environment

CONF = f"""\
import sys

sys.path.insert(0, {str(ROOT / "book" / "_ext")!r})
extensions = ["myst_nb", "barrier_lab_execute", "barrier_lab_failed"]
root_doc, html_theme, nb_execution_mode, exclude_patterns = "first", "basic", "force", ["_build"]
"""
HEAD = "---\njupytext: {text_representation: {format_name: myst}}\nkernelspec: {name: python3}\n"
SLEEPS = "import time\nprint(time.monotonic())\ntime.sleep(2)\nprint(time.monotonic())"
LOUD = ["first", "second", "third", "fourth"]


def write(folder: Path, page: str, code: str, more: str = "") -> None:
    """A page with one cell, and a list of all pages on the first one."""
    pages = "\n```{toctree}\n:glob:\n*\n```\n" if page == "first" else ""
    text = f"{HEAD}{more}---\n# The {page} page\n\n```{{code-cell}} python\n{code}\n```\n{pages}"
    (folder / f"{page}.md").write_text(text)


def build(folder: Path, environment: dict[str, str]) -> subprocess.Popen:
    """Begin to build a small book; four notebooks at a time."""
    (folder / "conf.py").write_text(CONF)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", folder, folder / "_build" / "html"]
    environment = environment | {"BARRIER_LAB_NOTEBOOKS": "4"}
    environment.pop("PYTEST_CURRENT_TEST", None)
    return subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background have it ignored
    )


def build_to_the_end(folder: Path) -> tuple[int, str]:
    """Build it: exit code, and what was said.  Nothing may be left running."""
    environment = marked_environment()
    building = build(folder, environment)
    said, _ = building.communicate(timeout=120)
    assert_nothing_left(environment)
    return building.returncode, said


def seconds(said: str) -> tuple[int, float, float]:
    """How many notebooks were executed, in what time, and the sum of their own times, as the build says it."""
    number, wall, own = re.search(r"executed: (\d+), in (\d+) s; .* add up to (\d+) s", said).groups()
    return int(number), float(wall), float(own)


def span(folder: Path, page: str) -> tuple[float, float]:
    """When the cell of a page began and ended."""
    notebook = json.loads((folder / "_build" / "jupyter_execute" / f"{page}.ipynb").read_text())
    (cell,) = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    begin, end = "".join("".join(output["text"]) for output in cell["outputs"]).split()
    return float(begin), float(end)


def overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two notebooks were at work at the same time."""
    return one[0] < other[1] and other[0] < one[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, int, str]:
    """A book of four pages that sleep, one that asks for quiet and one that fails: exit code, and what was said."""
    folder = tmp_path_factory.mktemp("several")
    for page in LOUD:
        write(folder, page, SLEEPS)
    write(folder, "measures", SLEEPS, "quiet: true\n")
    write(folder, "fails", 'assert 2 + 2 == 5, "that is wrong"')
    return folder, *build_to_the_end(folder)


def test_notebooks_that_sleep_do_it_at_the_same_time(built):
    folder, _, said = built
    spans = [span(folder, page) for page in LOUD]
    assert any(overlap(one, other) for one, other in combinations(spans, 2))
    number, wall, own = seconds(said)
    assert number == 6 and wall < own


def test_a_notebook_that_measures_runs_alone(built):
    folder = built[0]
    assert not any(overlap(span(folder, "measures"), span(folder, page)) for page in LOUD)


def test_a_notebook_that_fails_shows_its_traceback_and_fails_the_build_once(built):
    folder, code, said = built
    page = (folder / "_build" / "html" / "fails.html").read_text()
    assert "bl-failed-cell" in page and "that is wrong" in page
    assert code == 1 and said.count("Executing notebook failed") == 1
    failed = json.loads((folder / "_build" / "failed_cells.json").read_text())
    assert [one["page"] for one in failed] == ["fails"]


def test_a_second_build_executes_what_sphinx_reads_again_and_nothing_else(built):
    folder = built[0]
    before = {page: span(folder, page) for page in LOUD}
    with (folder / "second.md").open("a") as page:
        page.write("\nOne more sentence.\n")
    _, said = build_to_the_end(folder)
    assert seconds(said)[0] == 1
    assert [page for page in LOUD if span(folder, page) != before[page]] == ["second"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_build_that_is_interrupted_leaves_no_kernel(tmp_path, how):
    for page in LOUD:
        write(tmp_path, page, f"import pathlib, time\npathlib.Path('{page}.begun').touch()\ntime.sleep(99)")
    environment = marked_environment()
    building = build(tmp_path, environment)
    limit = time.monotonic() + 60
    while len(list(tmp_path.glob("*.begun"))) < len(LOUD) and time.monotonic() < limit:
        time.sleep(0.05)
    os.kill(building.pid, how)
    building.communicate(timeout=30)
    assert building.returncode != 0
    assert_nothing_left(environment)
