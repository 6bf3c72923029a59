"""Lesson ``ordering``: which calls pair, what a barrier orders, and what it leaves to chance."""

import pytest

from barrier_lab import run, run_many


@pytest.fixture(scope="module")
def runs() -> dict:
    """All variants that only sleep and wait, run at once."""
    variants = {
        "two ranks": dict(experiment="ordering"),
        "four ranks": dict(experiment="ordering", world_size=4),
        "without": dict(experiment="ordering", barrier=False),
        "skipped": dict(experiment="ordering_skip"),
        "not skipped": dict(experiment="ordering_skip", skip_rank=-1),
        "mixed": dict(experiment="ordering_mixed", deadline=2),
        "in one order": dict(experiment="ordering_mixed", swapped=False),
        "late lines": dict(experiment="ordering_print"),
    }
    return dict(zip(variants, run_many(list(variants.values())), strict=True))


def steps(found) -> list[list[int]]:
    """For each rank, the steps whose barrier it passed."""
    return [[int(line.text.split()[-1]) for line in rank.output if "passed" in line.text] for rank in found.ranks]


def test_spawned_ranks_meet_on_two_lines():
    found = run("ordering", pause=0.3)
    calls = found.spans(name="barrier")
    assert found.outcome == "completed"
    assert [call.seq for call in calls] == [1, 1]
    assert len({call.line for call in calls}) == 2


@pytest.mark.parametrize("name", ["two ranks", "four ranks"])
def test_other_ranks_pass_only_after_rank_zero_has_come_to_its_line(runs, name):
    found = runs[name]
    came = found.line(0, "second before").t
    assert found.outcome == "completed"
    for rank in range(1, found.trace.world_size):
        assert found.line(rank, "first after").t > came
        assert found.spans(rank, "barrier")[0].end > found.spans(0, "barrier")[0].begin


def test_four_calls_are_one_barrier(runs):
    assert [call.seq for call in runs["four ranks"].spans(name="barrier")] == [1, 1, 1, 1]


def test_without_the_barrier_nothing_holds_rank_one_back(runs):
    found = runs["without"]
    assert found.spans(name="barrier") == []
    assert found.line(1, "first after").t < found.line(0, "second before").t


def test_the_rank_that_skipped_is_one_step_ahead_at_each_release(runs):
    assert steps(runs["skipped"]) == [[1, 2], [1, 2], [1, 2], [2, 3]]


def test_only_the_rank_that_skipped_ends_well(runs):
    found = runs["skipped"]
    assert found.outcome == "failed"
    assert [rank.error is None for rank in found.ranks] == [False, False, False, True]
    assert found.line(3, "has done all steps")


def test_the_verdict_tells_who_had_called_less_often(runs):
    verdict = runs["skipped"].verdict
    assert "Rank 3 finished" in verdict
    assert "having called barrier twice" in verdict
    assert "3rd barrier" in verdict


def test_nobody_is_ahead_where_nobody_skips(runs):
    assert runs["not skipped"].outcome == "completed"
    assert steps(runs["not skipped"]) == [[1, 2, 3]] * 4


def test_a_barrier_that_meets_an_all_reduce_stalls_both(runs):
    found = runs["mixed"]
    assert found.outcome == "hung"
    assert [(call.name, call.seq, call.end) for rank in (0, 1) for call in found.spans(rank)] == [
        ("barrier", 1, None),
        ("all_reduce", 1, None),
    ]
    assert "these were paired" in found.verdict


def test_asked_for_details_pytorch_says_that_the_calls_differ(monkeypatch):
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "DETAIL")
    found = run("ordering_mixed", deadline=20)
    assert found.outcome == "failed"
    assert any("Detected mismatch between collectives" in rank.error for rank in found.ranks)


def test_in_one_order_both_ranks_get_the_sum(runs):
    found = runs["in one order"]
    assert found.outcome == "completed"
    assert [rank.output[-1].text for rank in found.ranks] == ["the sum is [3.0, 3.0, 3.0, 3.0]"] * 2


def test_lines_arrive_in_another_order_than_they_were_printed(runs):
    before, after = runs["late lines"].line(0, "before"), runs["late lines"].line(1, "after")
    assert after.t < before.t
    assert float(before.text.split()[-1]) < float(after.text.split()[-1])
