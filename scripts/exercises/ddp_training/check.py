"""The check of ``ddp_training``: every batch is trained on and counted, and the weights agree."""

import math

from barrier_lab.exercises import expect

EDITED = ("worker",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("crash", "Connection closed|Connection reset|Read error")
RUNS = [
    dict(world_size=3, deadline=10),
    dict(world_size=2, fewer_rank=0, deadline=10),
    dict(world_size=2, fewer_rank=-1, deadline=10),  # nobody has fewer
]


def judge(run):
    fewer_rank = run.trace.parameters["fewer_rank"]
    batches = [2 if rank.rank == fewer_rank else 5 for rank in run.ranks]
    trained = [rank.result[0] for rank in run.ranks]
    expect.that(
        trained == batches,
        f"the ranks to train on {batches} batches",
        f"they trained on {trained}",
        hint="No batch is left out. The ranks with more batches go on, and Join stands in for the one that is through.",
    )
    totals = [rank.result[1] for rank in run.ranks]
    expect.that(
        totals == [sum(batches)] * len(batches),
        f"each rank to count {sum(batches)} batches in all",
        f"they counted {totals}",
        hint="Join stands in for the collectives of the model only. When can all ranks add up their counts at once?",
    )
    weights = [rank.result[2] for rank in run.ranks]
    expect.that(
        all(math.isclose(weight, weights[0], rel_tol=1e-6, abs_tol=1e-9) for weight in weights),
        "all ranks to end with the same weights",
        f"the sums of their weights are {weights}",
        hint="Train the wrapped model, and leave Join's loop only when your batches are used up.",
    )
