"""The check of ``zero_first``: whole data for all, and after a failure every rank goes on and knows the cause."""

from barrier_lab.exercises import expect

EDITED = ("zero_first",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("wrong", "")
RUNS = [
    dict(world_size=4, folder=expect.FRESH, deadline=8),
    dict(world_size=4, folder=expect.FRESH, fails=True, deadline=8),
    dict(world_size=2, folder=expect.FRESH, fails=True, deadline=8),
]
CAUSE = "no space left on the disk"


def judge(run):
    if not run.trace.parameters["fails"]:
        hint = "If rank 0 did not fail, the others run the block when it is done, and nobody raises."
        return expect.values(run, lambda rank, world_size: [1000 * world_size, ""], hint)
    for rank in run.ranks:
        total, cause = rank.result
        expect.that(
            total == 0 and CAUSE in cause,
            f"every rank to return 0 rows and a text with {CAUSE!r}",
            f"rank {rank.rank} returned {rank.result!r}",
            hint="A barrier carries no value. Which call makes the others wait for rank 0, and carries one?",
        )
