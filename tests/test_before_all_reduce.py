"""Lesson ``before_all_reduce``: what a barrier before a collective changes, and what carries a decision."""

from pathlib import Path

import pytest
from repairs import check_changed

from barrier_lab import run, run_many

VARIANTS = {
    "with": dict(experiment="before_all_reduce", delay=0.5),
    "without": dict(experiment="before_all_reduce", delay=0.5, barrier=False),
    "four with": dict(experiment="before_all_reduce", delay=0.5, world_size=4, slow_rank=0),
    "four without": dict(experiment="before_all_reduce", delay=0.5, world_size=4, slow_rank=0, barrier=False),
    "wait": dict(experiment="before_all_reduce_wait", delay=1.0),
    "wait and barrier": dict(experiment="before_all_reduce_wait", delay=1.0, barrier=True),
} | {
    f"flag by {how}": dict(experiment="before_all_reduce_flag", how=how, world_size=3)
    for how in ("barrier", "broadcast", "all_reduce")
}
STOP = dict(experiment="before_all_reduce_stop", epoch_time=0.05)


@pytest.fixture(scope="module")
def runs() -> dict:
    """All variants, at once: they only sleep and wait."""
    return dict(zip(VARIANTS, run_many(list(VARIANTS.values())), strict=True))


@pytest.fixture(scope="module")
def stops() -> dict:
    """Early stopping in each of its ways."""
    ways = ("alone", "barrier", "any", "all", "rank 0")
    limits = (3, 3, 60, 60, 60)  # deadlines: the first two hang
    asked = [STOP | dict(agree=how, deadline=limit) for how, limit in zip(ways, limits, strict=True)]
    return dict(zip(ways, run_many(asked), strict=True))


def results(found) -> list:
    return [rank.result for rank in found.ranks]


def test_spawned_ranks_wait_for_the_slow_one_in_the_all_reduce():
    found = run("before_all_reduce", delay=0.5, barrier=False)
    assert found.outcome == "completed"
    assert found.spans(0, "all_reduce")[0].end > found.spans(1, "sleep")[0].end


@pytest.mark.parametrize("size", ["", "four "])
def test_the_sums_are_the_same_with_and_without_the_barrier(runs, size):
    met, free = runs[f"{size}with"], runs[f"{size}without"]
    assert met.outcome == free.outcome == "completed"
    assert results(met) == results(free)
    assert len({tuple(values) for values in results(free)}) == 1
    assert met.spans(name="barrier") and not free.spans(name="barrier")


@pytest.mark.parametrize("name", ["with", "without"])
def test_nobody_has_the_sum_before_the_slow_rank_has_its_values(runs, name):
    assert runs[name].line(0, "sum").t > runs[name].line(1, "has").t


def test_wait_returns_while_the_other_rank_sleeps(runs):
    for name in ("wait", "wait and barrier"):
        assert runs[name].spans(0, "wait")[0].end < runs[name].spans(1, "sleep")[0].end


def test_only_the_barrier_holds_back_a_rank_that_has_waited(runs):
    for name, before in (("wait", True), ("wait and barrier", False)):
        assert (runs[name].line(0, "goes on").t < runs[name].line(1, "calls wait").t) is before


def test_a_flag_does_not_travel_through_a_barrier(runs):
    assert results(runs["flag by barrier"]) == [True, False, False]


@pytest.mark.parametrize("how", ["broadcast", "all_reduce"])
def test_a_collective_that_is_given_the_flag_carries_it(runs, how):
    assert results(runs[f"flag by {how}"]) == [True] * 3


@pytest.mark.parametrize("how", ["alone", "barrier"])
def test_a_rank_that_stops_alone_meets_the_others_in_the_wrong_collective(stops, how):
    last = [stops[how].spans(rank)[-1] for rank in range(4)]
    assert stops[how].outcome == "hung"
    assert [call.name for call in last] == ["all_reduce", "barrier", "all_reduce", "all_reduce"]
    assert len({call.seq for call in last}) == 1


@pytest.mark.parametrize(("how", "epoch"), [("any", 2), ("all", 5), ("rank 0", 3)])
def test_ranks_that_agree_stop_after_the_same_epoch(stops, how, epoch):
    assert stops[how].outcome == "completed"
    assert results(stops[how]) == [epoch] * 4


# --- the exercise -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "outcome", "hint"),
    [
        ("2 * votes.item() > world_size", "votes.item() > 0", "wrong", "Every rank must see the same count"),
        ("        votes =", "        dist.barrier()\n        votes =", "wrong", "What would a barrier add?"),
        ("        dist.all_reduce(gradient)\n", "", "wrong", "of the gradient stays as it is"),
    ],
    ids=["one vote is enough", "with a barrier", "without the gradient"],
)
def test_a_repair_that_is_none_is_found_out(tmp_path: Path, old, new, outcome, hint):
    result = check_changed("before_all_reduce", tmp_path, old, new)
    assert result.outcome == outcome
    assert hint in result.details
