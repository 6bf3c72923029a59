"""Lesson ``ports_and_orphans`` under torchrun, and answers to its exercise."""

import re
import shutil
from pathlib import Path

from left_over import torchrun

from barrier_lab import check
from barrier_lab.script.source import SCRIPTS

EXERCISES = SCRIPTS / "exercises"
NAME = "ports_and_orphans"


def test_the_script_runs_under_torchrun_and_says_the_same(tmp_path: Path):
    assert torchrun(SCRIPTS / f"{NAME}.py", "--folder", tmp_path).returncode == 0
    assert "EADDRINUSE" in torchrun(SCRIPTS / f"{NAME}.py").stderr


def test_the_launchers_store_is_right_as_well(tmp_path: Path):
    file = Path(shutil.copy(EXERCISES / NAME / "solution.py", tmp_path / "mine.py"))
    text = file.read_text()
    file.write_text(re.sub(r'"gloo",[^)]*\)', '"gloo")', text))
    assert text != file.read_text()
    assert check(NAME, file).outcome == "right"


def test_ranks_that_do_not_add_their_numbers_are_found_out(tmp_path: Path):
    file = Path(shutil.copy(EXERCISES / NAME / "solution.py", tmp_path / "mine.py"))
    text = file.read_text()
    file.write_text(text.replace("    dist.all_reduce(total)\n", ""))
    assert text != file.read_text()
    assert check(NAME, file).outcome == "wrong"
