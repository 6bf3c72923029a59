"""Lesson ``async_barrier``: what its page does not run."""

from barrier_lab import run


def test_nobody_complains_where_everybody_comes():
    found = run("async_barrier_probe", delay=0.0, patience=5.0, start_method="forkserver")
    assert not any("not everybody" in line.text for _, line in found.lines())
