"""Lesson ``devices``: wrong answers of its exercise."""

from pathlib import Path

import pytest

from barrier_lab import check
from barrier_lab.exercises.check import EXERCISES


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ("[device.index]", "[device]", "crash"),
        ("rank % ranks_here", "rank", "wrong"),
        ("gpus >= ranks_here", "gpus >= world_size", "wrong"),
    ],
)
def test_each_mistake_of_the_exercise_is_found_by_itself(tmp_path: Path, old: str, new: str, outcome: str):
    solution = (EXERCISES / "devices" / "solution.py").read_text()
    assert old in solution
    file = tmp_path / "mine.py"
    file.write_text(solution.replace(old, new))
    assert check("devices", file).outcome == outcome
