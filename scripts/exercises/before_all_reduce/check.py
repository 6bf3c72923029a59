"""The check of ``before_all_reduce``: all ranks stop after the epoch that the majority chose, and without a barrier."""

from barrier_lab.exercises import expect

EPOCHS = 6
EDITED = ("worker",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("crash", "all_reduce")
RUNS = [
    dict(world_size=4, deadline=8),
    dict(world_size=3, patience=1, deadline=8),
    dict(world_size=2, patience=9, deadline=8),  # nobody ever wants to stop
]


def judge(run):
    world_size, patience = run.trace.world_size, run.trace.parameters["patience"]
    expect.values(
        run,
        _stops_after(world_size, patience),
        hint="Every rank must see the same count of votes. Which collective gives each rank the sum of all?",
    )
    barriers = run.spans(name="barrier")
    expect.that(
        not barriers,
        "no barrier",
        f"{len(barriers)} calls of it" if len(barriers) > 1 else "one call of it",
        hint="The collective that counts the votes waits for every vote. What would a barrier add?",
    )
    calls = min(sum(span.kind == "collective" for span in run.spans(rank.rank)) for rank in run.ranks)
    expect.that(
        calls >= 2 * _stops_after(world_size, patience),
        "two collectives in each epoch, one for the gradient and one for the votes",
        f"a rank called {calls} in all",
        hint="The all_reduce of the gradient stays as it is; the votes need a collective of their own.",
    )


def _stops_after(world_size: int, patience: int) -> int:
    """The first epoch in which more than half of the ranks want to stop: rank r does from patience + r on."""
    return min(patience + world_size // 2, EPOCHS)
