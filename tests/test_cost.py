"""Lesson ``cost``: what its page does not assert."""

from barrier_lab import run


def test_the_straggler_of_a_step_waits_least():
    found = run("cost", world_size=3, steps=3, work=0.1, delay=0.5, start_method="forkserver")
    for step in range(3):
        calls = [found.spans(rank, "barrier")[step] for rank in range(3)]
        waits = [call.end - call.begin for call in calls]
        assert waits.index(min(waits)) == step
