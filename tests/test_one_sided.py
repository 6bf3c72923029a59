"""Lesson ``one_sided``: the verdicts on its runs, and wrong answers of its exercise."""

from pathlib import Path

import pytest
from repairs import check_changed

from barrier_lab import run_many

SHORT = {"experiment": "one_sided", "fast": 0.1, "slow": 0.3}


@pytest.fixture(scope="module")
def runs():
    """Rank 1 of three does not come, until the deadline, and one of two until the timeout of the group."""
    return run_many([SHORT | {"world_size": 3, "deadline": 3.0}, SHORT | {"timeout": 2.0}])


def test_the_verdict_names_the_ranks_that_wait_and_the_one_that_is_missing_with_their_lines(runs):
    absent, _ = runs
    barrier, sleep = absent.spans(0, "barrier")[1], absent.spans(1, "sleep")[-1]
    assert f"Ranks 0 and 2 are waiting in their 2nd barrier (one_sided.py:{barrier.line})" in absent.verdict
    assert "Rank 1 had called barrier once" in absent.verdict
    assert f"time.sleep (one_sided.py:{sleep.line})" in absent.verdict


def test_a_timeout_of_the_group_fails_the_waiting_rank_and_is_no_hang(runs):
    _, timed_out = runs
    assert timed_out.outcome == "failed"
    assert "timeout of 2 s" in timed_out.verdict and "deadline" not in timed_out.verdict


@pytest.mark.parametrize(
    ("old", "new", "outcome", "hint"),
    [
        ("    dist.barrier()\n", "", "wrong", "must come to the barrier"),
        ("return None", "return 0", "wrong", "Only the record that cannot be read"),
        ("return None", "raise ValueError(record)", "crash", "ValueError: 4?"),
    ],
    ids=["without the barrier", "with a made-up number", "with an error"],
)
def test_a_repair_that_is_none_is_found_out(tmp_path: Path, old, new, outcome, hint):
    result = check_changed("one_sided", tmp_path, old, new)
    assert result.outcome == outcome
    assert hint in result.details
