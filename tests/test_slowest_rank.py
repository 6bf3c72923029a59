"""Lesson ``slowest_rank``: who waits for whom, how long, and what the ranks have in common."""

import pytest

from barrier_lab import run, run_many


@pytest.fixture(scope="module")
def runs() -> dict:
    second = dict(experiment="slowest_rank", delay=1.0)
    variants = {
        "two ranks": second,
        "four ranks": second | dict(world_size=4),
        "rank 0 slow": second | dict(world_size=4, slow_rank=0),
        "late clock": second | dict(delay=2.0, late_clock=1.0),
        "two rounds": second | dict(rounds=2),
        "without": second | dict(barrier=False),
    }
    return dict(zip(variants, run_many(list(variants.values())), strict=True))


def report(found, rank: int) -> float:
    """The seconds of a rank's first report."""
    return float(found.line(rank, "report 1").text.split()[2])


def waits(found) -> list[float]:
    """Each rank's seconds in its first barrier."""
    calls = [found.spans(rank.rank, "barrier")[0] for rank in found.ranks]
    return [call.end - call.begin for call in calls]


def slept(found, rank: int) -> float:
    """The seconds that a rank slept."""
    return sum(sleep.end - sleep.begin for sleep in found.spans(rank, "sleep"))


def test_both_ranks_report_the_same_time_although_one_of_them_slept(runs):
    found = runs["two ranks"]
    assert found.outcome == "completed"
    assert abs(report(found, 0) - report(found, 1)) < 0.3 * slept(found, 1)
    assert slept(found, 0) == 0
    assert waits(found)[0] > 0.7 * slept(found, 1)


@pytest.mark.parametrize(("name", "slow"), [("two ranks", 1), ("four ranks", 1), ("rank 0 slow", 0)])
def test_all_others_wait_for_the_slow_rank_and_it_for_nobody(runs, name, slow):
    waited = waits(runs[name])
    longest = slept(runs[name], slow)
    assert waited[slow] == min(waited)
    assert waited[slow] < 0.5 * longest
    assert all(seconds > 0.5 * longest for rank, seconds in enumerate(waited) if rank != slow)


@pytest.mark.parametrize(
    ("name", "rounds"), [("two ranks", 1), ("four ranks", 1), ("rank 0 slow", 1), ("late clock", 1), ("two rounds", 2)]
)
def test_nobody_returns_before_the_last_rank_calls(runs, name, rounds):
    found = runs[name]
    calls = [found.spans(rank.rank, "barrier") for rank in found.ranks]
    assert [len(own) for own in calls] == [rounds] * len(found.ranks)
    for meeting in zip(*calls, strict=True):
        assert min(call.end for call in meeting) > max(call.begin for call in meeting)


def test_one_clock_started_late_changes_the_report_and_not_the_release(runs):
    found = runs["late clock"]
    first = [found.spans(rank, "barrier")[0].end for rank in (0, 1)]
    assert report(found, 1) - report(found, 0) > 0.5 * slept(found, 0)
    assert abs(first[0] - first[1]) < 0.5 * slept(found, 0)


def test_without_the_barrier_each_report_is_the_ranks_own_work(runs):
    found = runs["without"]
    assert found.spans(name="barrier") == []
    assert report(found, 0) < 0.5 * report(found, 1)
    assert found.line(0, "report 1").t < found.line(1, "report 1").t


def test_each_rank_is_sometimes_the_first_to_return():
    first = set()
    for slow in (0, 1, 0, 1, 0, 1):
        found = run("slowest_rank", delay=0.05, slow_rank=slow, rounds=50, start_method="forkserver")
        pairs = zip(found.spans(0, "barrier"), found.spans(1, "barrier"), strict=True)
        first |= {min(pair, key=lambda call: call.end).rank for pair in pairs}
    assert first == {0, 1}
