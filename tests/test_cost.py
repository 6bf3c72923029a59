"""Lesson ``cost``: what a barrier in every step makes a job wait for, and what the call alone takes."""

from pathlib import Path
from statistics import quantiles

import pytest

from barrier_lab import run, run_many

SCRIPTS = Path(__file__).parent.parent / "scripts"


@pytest.fixture(scope="module")
def runs() -> dict:
    """All variants of the loop, four at once: they only sleep and wait."""
    loop = dict(experiment="cost", delay=0.8)
    variants = {
        "every step": loop,
        "at the end": loop | dict(every_step=False),
        "no barrier": loop | dict(barrier=False),
        "same rank, every step": loop | dict(in_turn=False),
        "same rank, at the end": loop | dict(in_turn=False, every_step=False),
        "all_reduce": loop | dict(all_reduce=True, barrier=False),
        "all_reduce and barrier": loop | dict(all_reduce=True),
    }
    listed = list(variants.values())
    return dict(zip(variants, run_many(listed[:4]) + run_many(listed[4:]), strict=True))


def stretch(found) -> float:
    """How much longer the job took than its busiest rank worked."""
    work = [sum(sleep.end - sleep.begin for sleep in found.spans(rank.rank, "sleep")) for rank in found.ranks]
    return max(rank.ended for rank in found.ranks) / max(work)


@pytest.mark.parametrize("name", ["every step", "all_reduce", "all_reduce and barrier"])
def test_the_job_waits_for_each_straggler_where_all_meet_in_every_step(runs, name):
    assert runs[name].outcome == "completed"
    assert stretch(runs[name]) > 1.7


@pytest.mark.parametrize("name", ["at the end", "no barrier", "same rank, every step", "same rank, at the end"])
def test_the_job_takes_as_long_as_its_busiest_rank_elsewhere(runs, name):
    assert runs[name].outcome == "completed"
    assert stretch(runs[name]) < 1.5


def test_a_barrier_behind_an_all_reduce_finds_all_ranks_there(runs):
    waited = {
        name: sum(call.end - call.begin for call in runs["all_reduce and barrier"].spans(name=name))
        for name in ("all_reduce", "barrier")
    }
    assert waited["barrier"] < 0.3 * waited["all_reduce"]


def test_the_straggler_of_a_step_waits_least(runs):
    for step in range(4):
        waits = [
            call.end - call.begin for call in (runs["every step"].spans(rank, "barrier")[step] for rank in range(4))
        ]
        assert waits.index(min(waits)) == step


def test_a_call_takes_longer_in_a_larger_group():
    measured = run("cost_call", backend="gloo", start_method="forkserver", rounds=4)
    assert measured.outcome == "completed"
    quarter = {int(size): quantiles(took, n=4)[0] for size, took in measured.ranks[0].result.items()}
    assert quarter[2] < quarter[4] < quarter[8]


def test_without_the_call_there_is_nothing_to_measure():
    with_call, without = (
        run("cost_call", world_size=2, backend="gloo", start_method="forkserver", barrier=barrier, rounds=2)
        for barrier in (True, False)
    )
    assert quantiles(without.ranks[0].result["2"], n=4)[1] < 0.1 * quantiles(with_call.ranks[0].result["2"], n=4)[1]
