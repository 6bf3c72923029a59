"""The check of ``slowest_rank``: one barrier after the work, and from each rank the time of its own work."""

from barrier_lab.exercises import expect

EDITED = ("worker",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("wrong", "the time of its own work")
RUNS = [dict(world_size=3), dict(world_size=3, slow_rank=0)]


def judge(run):
    expect.calls(run, ["barrier"], hint="All ranks still meet once. Only the place where the clock is read is wrong.")
    worked = {rank.rank: sum(sleep.end - sleep.begin for sleep in run.spans(rank.rank, "sleep")) for rank in run.ranks}
    slow = run.trace.parameters["slow_rank"]
    for rank in run.ranks:
        meeting = run.spans(rank.rank, "barrier")[0]
        expect.that(
            worked[rank.rank] > 0 and all(sleep.end <= meeting.begin for sleep in run.spans(rank.rank, "sleep")),
            "each rank to work first and to come to the barrier then",
            f"rank {rank.rank} did not",
            hint="Leave work and barrier in their order.",
        )
        # Nearer to this rank's own work than to what the clock says after the release.
        margin = (worked[slow] - worked[rank.rank]) / 2 or worked[slow] / 2
        figure = rank.result
        right = isinstance(figure, float) and abs(figure - worked[rank.rank]) < margin
        expect.that(
            right,
            f"rank {rank.rank} to return the time of its own work, about {worked[rank.rank]:.1f} s",
            f"rank {rank.rank} returned {figure:.3f} s" if isinstance(figure, float) else f"it returned {figure!r}",
            hint="The clock runs on while a rank waits. When has it done its work, but not waited yet?",
        )
