"""Lesson ``one_sided``: the verdicts on its runs, and wrong answers of its exercise."""

from pathlib import Path

import pytest
from repairs import check_changed

from barrier_lab import run_many

SHORT = {"experiment": "one_sided", "fast": 0.1, "slow": 0.3}
VARIANTS = {
    "absent": {"deadline": 3.0},
    "timed out": {"timeout": 2.0},
    "four": {"world_size": 4, "deadline": 3.0},
}


@pytest.fixture(scope="module")
def runs() -> dict:
    """One run of each variant, all at once."""
    return dict(zip(VARIANTS, run_many([SHORT | variant for variant in VARIANTS.values()]), strict=True))


def second_call(run):
    return run.spans(0, "barrier")[1]


def test_the_verdict_names_both_ranks_and_both_lines(runs):
    absent = runs["absent"]
    barrier, sleep = second_call(absent), absent.spans(1, "sleep")[-1]
    assert f"Rank 0 is waiting in its 2nd barrier (one_sided.py:{barrier.line})" in absent.verdict
    assert "Rank 1 had called barrier once" in absent.verdict
    assert f"time.sleep (one_sided.py:{sleep.line})" in absent.verdict


def test_a_time_out_of_the_group_fails_the_waiting_rank_and_is_no_hang(runs):
    timed_out = runs["timed out"]
    assert timed_out.outcome == "failed"
    assert "Timed out waiting 2000ms" in second_call(timed_out).error
    assert "timeout of 2 s" in timed_out.verdict and "deadline" not in timed_out.verdict


def test_of_four_ranks_three_wait_for_the_one_that_is_missing(runs):
    assert runs["four"].outcome == "hung"
    assert "Ranks 0, 2 and 3 are waiting" in runs["four"].verdict


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
