"""The check of ``cost``: rank 0 has all scores, all steps were done, and one barrier is left."""

from barrier_lab.exercises import expect

EDITED = ("worker",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("wrong", "")
RUNS = [
    dict(world_size=4, folder=expect.FRESH, deadline=15),
    dict(world_size=3, steps=6, folder=expect.FRESH, deadline=15),
]


def judge(run):
    expect.values(
        run,
        lambda rank, world_size: [10 * other for other in range(world_size)] if rank == 0 else None,
        hint="Rank 0 reads the files of all ranks: when are they all there?",
    )
    steps = run.trace.parameters["steps"]
    trained = [sum(span.function == "train" for span in run.spans(rank.rank, "sleep")) for rank in run.ranks]
    expect.that(
        all(count == steps for count in trained),
        f"each rank to train for {steps} steps",
        f"the ranks trained for {', '.join(map(str, trained))} steps",
        hint="The work stays as it is; only the waiting may go.",
    )
    expect.calls(
        run,
        ["barrier"],
        hint="For each barrier ask: who would read or lose something if it were not there?",
        only=("barrier",),
    )
