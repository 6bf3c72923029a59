"""Lesson ``first_barrier``: two processes, one group, one barrier, raw and recorded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from barrier_lab import run, run_many

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


@pytest.fixture(scope="module")
def runs() -> dict:
    variants = {
        "two ranks": dict(experiment="first_barrier"),
        "four ranks": dict(experiment="first_barrier", world_size=4, pause=0.3),
        "without": dict(experiment="first_barrier", barrier=False),
    }
    return dict(zip(variants, run_many(list(variants.values())), strict=True))


def test_the_raw_program_needs_nothing_of_the_book():
    text = (SCRIPTS / "raw" / "first_barrier.py").read_text()
    assert "barrier_lab" not in text
    assert "29500" not in text


def test_the_raw_program_makes_both_tensors_before_anybody_reports(tmp_path):
    command = [sys.executable, SCRIPTS / "raw" / "first_barrier.py"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    printed = subprocess.check_output(command, text=True, timeout=120, env=environment)
    # By place in the text, not by line: with PYTHONUNBUFFERED set, two ranks' lines may run together.
    assert printed.index("rank 0 made [0, 1, 2]") < printed.index("rank 1 made [10, 11, 12]")
    assert printed.rindex("made") < printed.index("reports")
    assert printed.count("reports") == 2
    assert list(tmp_path.iterdir()) == []


def test_spawned_ranks_make_their_own_group_and_meet():
    found = run("first_barrier", pause=0.1)
    assert found.outcome == "completed"
    assert [call.seq for call in found.spans(name="barrier")] == [1, 1]


@pytest.mark.parametrize("name", ["two ranks", "four ranks"])
def test_nobody_reports_before_every_tensor_is_made(runs, name):
    found = runs[name]
    size = found.trace.world_size
    assert found.outcome == "completed"
    assert min(found.line(rank, "reports").t for rank in range(size)) > found.line(size - 1, "made").t


@pytest.mark.parametrize("name", ["two ranks", "four ranks"])
def test_nobody_returns_before_the_last_call_and_not_all_at_once(runs, name):
    calls = runs[name].spans(name="barrier")
    returns = [call.end for call in calls]
    assert min(returns) > max(call.begin for call in calls)
    assert len(set(returns)) > 1


def test_each_rank_makes_its_own_tensor(runs):
    made = [runs["four ranks"].line(rank, "made").text for rank in range(4)]
    assert made == [f"made [{10 * rank}, {10 * rank + 1}, {10 * rank + 2}]" for rank in range(4)]


def test_each_rank_learns_its_number_from_the_group(runs):
    for rank in range(4):
        assert runs["four ranks"].line(rank, f"reports as rank {rank} of 4")


def test_without_the_barrier_rank_zero_reports_before_rank_one_has_its_tensor(runs):
    found = runs["without"]
    assert found.outcome == "completed"
    assert found.spans(name="barrier") == []
    assert found.line(0, "reports").t < found.line(1, "made").t
