"""The check of ``sampler``: one prediction for each sample, in order, on all ranks, and the parts were gathered."""

from barrier_lab.exercises import expect

EDITED = ("worker",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("wrong", "")
RUNS = [
    dict(world_size=3, samples=10, deadline=8),
    dict(world_size=4, samples=13, deadline=8),
    dict(world_size=2, samples=8, deadline=8),
    dict(world_size=4, samples=3, deadline=8),  # one rank has no sample of its own
]


def judge(run):
    samples = run.trace.parameters["samples"]
    expect.values(
        run,
        [100 + sample for sample in range(samples)],
        hint="Which sample does each prediction belong to? The rank that predicted it knows: let that travel, too.",
    )
    alone = [rank.rank for rank in run.ranks if not any("gather" in span.name for span in run.spans(rank.rank))]
    expect.that(
        not alone,
        "the ranks to share the work",
        f"rank {alone[0] if alone else 0} gathered nothing from the others",
        hint="Each rank predicts the samples of its own sampler only, and gets the rest by all_gather.",
    )
