"""The check of ``ordering``: the totals, the calls and their order, and that the others wait for the report."""

from barrier_lab.exercises import expect

EDITED = ("worker",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("hang", "these were paired, and they are different")
RUNS = [
    dict(world_size=3, deadline=8),
    dict(world_size=3, empty_rank=2, deadline=8),
    dict(world_size=4, empty_rank=0, deadline=8),
]


def judge(run):
    expect.values(
        run,
        lambda rank, world_size: _totals(world_size, run.trace.parameters["empty_rank"]),
        hint="A rank without numbers has the sum 0. It must add it to round 1 all the same.",
    )
    expect.calls(
        run,
        ["all_reduce", "all_reduce", "barrier"],
        hint="Every rank calls one all_reduce for each round, and then one barrier.",
    )
    written = max((sleep.end for sleep in run.spans(0, "sleep")), default=0.0)
    early = [rank.rank for rank in run.ranks[1:] if run.spans(rank.rank, "barrier")[0].end < written]
    expect.that(
        bool(run.spans(0, "sleep")) and not early,
        "the other ranks to wait until rank 0 has written the report",
        f"rank {early[0]} went on before" if early else "rank 0 wrote none",
        hint="The barrier lets all go when the last rank calls. When must rank 0 call it?",
    )


def _totals(world_size: int, empty_rank: int) -> list[int]:
    """The sum over all ranks of (rank + round) for each round; the empty rank adds nothing to round 1."""
    ranks = range(world_size)
    return [sum(rank + 1 for rank in ranks if rank != empty_rank), sum(rank + 2 for rank in ranks)]
