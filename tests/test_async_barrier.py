"""Lesson ``async_barrier``: what the call promises, what the wait does, and what a limit leaves behind."""

from pathlib import Path

import pytest

from barrier_lab import run, run_many

SCRIPTS = Path(__file__).parent.parent / "scripts"
OVERLAP, PROBE = "async_barrier", "async_barrier_probe"


@pytest.fixture(scope="module")
def runs() -> dict:
    """All variants, six or seven at once."""
    long = dict(experiment=OVERLAP, delay=0.8, other=1.6)
    short = dict(experiment=OVERLAP, delay=1.6, other=0.6)
    variants = {
        "short": short,
        "long": long,
        "before": long | dict(when="before"),
        "after": long | dict(when="after"),
        "without": short | dict(barrier=False),
        "four": long | dict(world_size=4),
        "dropped": short | dict(wait=False),
        "broken": short | dict(wait=False, delay=4.0, timeout=2),
        "noticed": short | dict(delay=4.0, timeout=2),
        "probe": dict(experiment=PROBE),
        "everybody there": dict(experiment=PROBE, delay=0.0, patience=5.0),
        "leaves": dict(experiment=PROBE, leaves=True),
        "brief": short | dict(when="before"),
    }
    listed = list(variants.values())
    return dict(zip(variants, run_many(listed[:6]) + run_many(listed[6:]), strict=True))


def goes_on(found, rank: int) -> float:
    return found.line(rank, "goes on").t


def test_spawned_ranks_work_between_call_and_wait():
    found = run(OVERLAP, delay=0.6, other=0.2)
    assert found.outcome == "completed"
    assert [call.seq for call in found.spans(name="barrier")] == [1, 1]
    assert not any(call.blocked for call in found.spans(name="barrier"))


def test_the_early_rank_works_while_the_late_one_is_away(runs):
    assert runs["short"].spans(1, "sleep")[0].end < runs["short"].spans(0, "barrier")[0].begin


def test_the_wait_ends_only_when_the_late_rank_has_called(runs):
    assert runs["short"].spans(1, "wait")[0].end > runs["short"].spans(0, "barrier")[0].begin


@pytest.mark.parametrize("name", ["long", "four"])
def test_the_late_rank_does_not_wait_for_the_other_work(runs, name):
    found = runs[name]
    others = range(1, found.trace.world_size)
    assert goes_on(found, 0) < min(found.spans(rank, "sleep")[0].end for rank in others)


def test_work_before_a_blocking_barrier_delays_the_late_rank(runs):
    assert goes_on(runs["before"], 0) > runs["before"].spans(1, "sleep")[0].end


def test_brief_work_before_a_blocking_barrier_delays_nobody(runs):
    assert runs["brief"].outcome == "completed"
    assert runs["brief"].spans(1, "sleep")[0].end < runs["brief"].spans(0, "sleep")[0].end


def test_work_after_a_blocking_barrier_begins_late(runs):
    assert runs["after"].spans(1, "sleep")[0].begin > runs["after"].spans(0, "sleep")[0].end


@pytest.mark.parametrize("name", ["dropped", "without"])
def test_a_handle_never_waited_for_holds_nobody_as_no_barrier_does(runs, name):
    assert runs[name].outcome == "completed"
    assert goes_on(runs[name], 1) < runs[name].spans(0, "sleep")[0].end


def test_a_call_never_waited_for_is_paired_all_the_same(runs):
    late, early = (runs["dropped"].spans(rank, "barrier")[0] for rank in (0, 1))
    assert late.seq == early.seq == 1
    assert early.end > late.begin


def test_only_a_wait_raises_the_error_of_a_failed_barrier(runs):
    assert all(call.error for name in ("broken", "noticed") for call in runs[name].spans(name="barrier"))
    assert runs["broken"].outcome == "completed"
    assert runs["noticed"].outcome == "failed"
    assert all(rank.error for rank in runs["noticed"].ranks)


def test_a_wait_that_runs_out_of_patience_leaves_the_group_whole(runs):
    waits = runs["probe"].spans(1, "wait")
    assert waits[0].error == "RuntimeError: Operation timed out!"
    assert waits[-1].error is None
    for rank in (0, 1):
        assert runs["probe"].line(rank, "passed another barrier of the same group")


def test_nobody_complains_where_everybody_comes(runs):
    assert not any("not everybody" in line.text for _, line in runs["everybody there"].lines())


def test_the_probe_does_not_hide_that_a_rank_has_left(runs):
    assert runs["leaves"].outcome == "failed"
    assert runs["leaves"].ranks[1].error
    assert not any(line.text == "everybody is here" for _, line in runs["leaves"].lines())
