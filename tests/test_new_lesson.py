"""``python -m barrier_lab new NAME`` makes a lesson whose pieces all run."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import pytest
import yaml
from conftest import ROOT
from nbclient import NotebookClient

from barrier_lab import check, run
from barrier_lab.errors import UsageError
from barrier_lab.exercises import check as exercise
from barrier_lab.new_lesson import make
from barrier_lab.script import source

pytestmark = pytest.mark.slow


@pytest.fixture
def lab(tmp_path: Path, monkeypatch) -> Path:
    """A folder of the book with one new lesson, "late_arrival"."""
    root = tmp_path / "lab"
    (root / "notebooks").mkdir(parents=True)
    shutil.copy(ROOT / "_toc.yml", root)
    monkeypatch.setattr(source, "SCRIPTS", root / "scripts")
    monkeypatch.setattr(exercise, "EXERCISES", root / "scripts" / "exercises")
    make("late_arrival", root)
    return root


def test_the_script_runs_and_its_test_passes(lab: Path):
    assert run("late_arrival", step=0.1, start_method="forkserver").outcome == "completed"
    text = (lab / "tests" / "test_late_arrival.py").read_text()
    names: dict = {}
    exec(text, names)
    names["test_three_ranks_wait_for_the_last_one"]()


def test_the_exercise_is_wrong_as_it_is_and_its_solution_right(lab: Path):
    outcome, said = exercise.load_check("late_arrival").STUB
    stub = check("late_arrival")
    assert stub.outcome == outcome and said in stub.details
    assert check("late_arrival", exercise.EXERCISES / "late_arrival" / "solution.py").outcome == "right"


def test_the_notebook_runs(lab: Path):
    notebook = jupytext.read(lab / "notebooks" / "late_arrival.md")
    assert notebook.metadata["lesson"]["read"] == 10
    cells = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in notebook.cells:
        cell.source = cell.source.replace('"late_arrival"', json.dumps(str(lab / "scripts" / "late_arrival.py")))
    NotebookClient(notebook, timeout=100).execute()
    assert "assert" in cells


def test_it_is_the_last_lesson_of_the_table_of_contents(lab: Path):
    before, after = (yaml.safe_load((root / "_toc.yml").read_text()) for root in (ROOT, lab))
    lessons = [next(p for p in toc["parts"] if p["caption"] == "Lessons")["chapters"] for toc in (before, after)]
    assert lessons[1] == [*lessons[0], {"file": "notebooks/late_arrival"}]


def test_what_it_writes_is_formatted(lab: Path):
    command = [sys.executable, "-m", "ruff", "format", "--check", "--line-length", "120", lab]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", ["late-arrival", "Late", "2late", "", "../late", "late_arrival"])
def test_a_name_that_is_none_or_is_taken_gets_one_sentence_and_nothing_is_written(lab: Path, name: str):
    before = sorted(path for path in lab.rglob("*") if "__pycache__" not in path.parts)
    with pytest.raises(UsageError, match=r"give a Python name in small letters|choose another name"):
        make(name, lab)
    assert sorted(path for path in lab.rglob("*") if "__pycache__" not in path.parts) == before


def test_elsewhere_than_in_the_folder_of_the_book_it_says_where_to_go(tmp_path: Path):
    with pytest.raises(UsageError, match="is not the folder of the book"):
        make("late", tmp_path)
