"""Lesson ``async_barrier``: what its page does not assert."""

from barrier_lab import run


def test_nobody_complains_where_everybody_comes():
    found = run("async_barrier_probe", delay=0.0, patience=5.0, start_method="forkserver")
    assert found.outcome == "completed"
    assert all(found.line(rank, "everybody is here") for rank in (0, 1))
    assert not any("not everybody" in line.text for _, line in found.lines())


def test_without_a_barrier_a_rank_goes_on_while_the_other_works():
    found = run("async_barrier", barrier=False, delay=0.8, other=0.2, start_method="forkserver")
    assert found.outcome == "completed"
    assert found.line(1, "goes on").t < found.spans(0, "sleep")[0].end
