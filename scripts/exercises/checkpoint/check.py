"""The check of ``checkpoint``: every rank loads each epoch in its turn, whoever is late, and barriers see to that."""

from barrier_lab.exercises import expect

EDITED = ("worker",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("crash", r"torch\.load\(path\)")
RUNS = [
    dict(world_size=4, folder=expect.FRESH, deadline=12),
    dict(world_size=3, slow_rank=2, folder=expect.FRESH, deadline=12),
    dict(world_size=2, slow_rank=0, folder=expect.FRESH, deadline=12),
]


def judge(run):
    expect.values(
        run,
        [1, 2, 3],
        hint="What must have happened before a rank may load, and what before rank 0 may save the next epoch?",
    )
    slow = run.trace.parameters["slow_rank"]
    sleeps = [len(run.spans(rank.rank, "sleep")) for rank in run.ranks]
    wanted = [3 * (rank == 0) + 3 * (rank == slow) for rank in range(len(sleeps))]
    expect.that(
        sleeps == wanted,
        f"{sum(wanted)} sleeps in all: one in each save, and one in each epoch of the late rank",
        f"there were {sum(sleeps)}",
        hint="A longer sleep protects nobody. Which call waits until the others have come?",
    )
    expect.that(
        all(run.spans(rank.rank, "barrier") for rank in run.ranks),
        "barriers on all ranks",
        "a rank calls none",
        hint="Only a call of all ranks tells one what the others have done.",
    )
