"""Lesson ``checkpoint``: wrong answers of its exercise."""

from pathlib import Path

import pytest
from repairs import check_changed

from barrier_lab import check
from barrier_lab.script.source import SCRIPTS

SOLUTION = SCRIPTS / "exercises" / "checkpoint" / "solution.py"


@pytest.mark.parametrize(
    ("old", "new", "outcome", "hint"),
    [
        ("        dist.barrier()  # saved\n", "", "crash", "torch.load(path)"),
        ("dist.barrier()  # saved", "time.sleep(0.6 * (rank != 0))", "wrong", "Which call waits"),
    ],
    ids=["loaded too early", "sleeps"],
)
def test_a_repair_that_is_none_is_found_out(tmp_path: Path, old, new, outcome, hint):
    result = check_changed("checkpoint", tmp_path, old, new)
    assert result.outcome == outcome
    assert hint in result.details


def test_a_barrier_after_the_save_alone_lets_rank_zero_overwrite_too_early(tmp_path: Path):
    file = tmp_path / "mine.py"
    barrier = "        dist.barrier()  # all have loaded the epoch before\n"
    text = SOLUTION.read_text()
    assert barrier in text
    file.write_text(text.replace(barrier, ""))
    assert check("checkpoint", file).outcome in ("wrong", "crash")  # a later epoch, or half of it
