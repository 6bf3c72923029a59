"""Lesson ``checkpoint``: wrong answers of its exercise."""

from pathlib import Path

import pytest
from repairs import check_changed

from barrier_lab import check
from barrier_lab.exercises.check import EXERCISES


@pytest.mark.parametrize(
    ("old", "new", "outcome", "hint"),
    [
        ("        dist.barrier()  # saved\n", "", "crash", "torch.load(path)"),
        ("dist.barrier()  # saved", "time.sleep(1.0 * (rank != 0))", "wrong", "Which call waits"),
    ],
    ids=["loaded too early", "sleeps"],
)
def test_a_repair_that_is_none_is_found_out(tmp_path: Path, old, new, outcome, hint):
    result = check_changed("checkpoint", tmp_path, old, new)
    assert result.outcome == outcome
    assert hint in result.details


def test_a_barrier_after_the_save_alone_lets_rank_zero_overwrite_too_early(tmp_path: Path):
    text = (EXERCISES / "checkpoint" / "solution.py").read_text()
    barrier, half = "        dist.barrier()  # all have loaded the epoch before\n", "time.sleep(0.3)"
    assert barrier in text and half in text
    file = tmp_path / "mine.py"
    # The late rank loads half a second after the barrier: half of the next epoch, while that takes so long.
    file.write_text(text.replace(barrier, "").replace(half, "time.sleep(2.5)"))
    result = check("checkpoint", file)
    assert result.outcome == "crash"
    assert "torch.load(path)" in result.details
