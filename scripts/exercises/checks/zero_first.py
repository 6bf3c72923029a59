"""The check of ``zero_first``: whole data for all, one barrier a rank, and nobody left waiting after a failure."""

from barrier_lab import expect

RUNS = [
    dict(world_size=4, folder=expect.FRESH, deadline=5),
    dict(world_size=4, folder=expect.FRESH, fails=True, deadline=5),
    dict(world_size=2, folder=expect.FRESH, deadline=5),
]


def judge(run):
    rows = 0 if run.trace.parameters["fails"] else 1000
    expect.values(
        run,
        lambda rank, world_size: [rows, rows * world_size],
        hint="The others must not run the block before rank 0 has run it. Who calls barrier before it, who after?",
    )
    expect.calls(
        run,
        ["barrier", "all_reduce"],
        hint="Each rank calls barrier once, and all_reduce stays as it is.",
        only=("barrier", "all_reduce"),
    )
    prepared = max((sleep.end for sleep in run.spans(0, "sleep")), default=0.0)
    early = [rank.rank for rank in run.ranks[1:] if run.spans(rank.rank, "barrier")[0].end < prepared]
    expect.that(
        not early,
        "the other ranks to wait until rank 0 has left the block",
        f"rank {early[0] if early else 0} went on before",
        hint="Rank 0 calls barrier when the block has ended, whatever way it ended: that is what finally is for.",
    )
