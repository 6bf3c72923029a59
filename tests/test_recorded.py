"""Runs that an old version recorded are still read, and told as they were."""

from pathlib import Path

from barrier_lab import load, timeline

RECORDED = Path(__file__).parent / "recorded"


def test_the_missing_rank_of_an_old_hang_is_named():
    run = load(RECORDED / "one_sided")
    assert run.outcome == "hung"
    assert run.verdict == (
        "Rank 0 is waiting in its 1st barrier (one_sided.py:30). Rank 1 had not called barrier when the run was "
        "stopped at 4.0 s; it was in time.sleep (one_sided.py:29)."
    )


def test_the_pair_of_an_old_mismatch_is_named():
    run = load(RECORDED / "ordering_mixed")
    assert "barrier (ordering_mixed.py:18) on rank 0 and all_reduce (ordering_mixed.py:21) on rank 1" in run.verdict
    assert "these were paired, and they are different collectives" in run.verdict


def test_an_old_run_is_drawn():
    drawn = timeline.svg(load(RECORDED / "one_sided").trace)
    assert "barrier 1 (:30)" in drawn
