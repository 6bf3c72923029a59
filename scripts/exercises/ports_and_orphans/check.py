"""The ranks meet, add their numbers, and all know the sum."""

from barrier_lab.exercises import expect

EDITED = ("worker",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("crash", "The server socket has failed to listen")
RUNS = [
    dict(world_size=2, folder=expect.FRESH, deadline=12),
    dict(world_size=4, folder=expect.FRESH, deadline=12),
]


def judge(run):
    expect.values(
        run,
        lambda rank, world_size: world_size * (world_size + 1) // 2,
        hint="All ranks must meet at one store, each with its own rank, and take part in the all_reduce.",
    )
    expect.calls(run, ["all_reduce"], hint="Change only how the ranks meet.")
