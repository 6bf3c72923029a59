"""The check of ``first_barrier``: the tensors, one barrier between making and reporting, and no group left."""

from barrier_lab.exercises import expect

EDITED = ("worker",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("crash", "ValueError: Default process group")
RUNS = [dict(world_size=2), dict(world_size=4, pause=0.2)]


def judge(run):
    expect.calls(run, ["barrier"], hint="Each rank calls dist.barrier() once.")
    for rank in run.ranks:
        texts = [line.text.split()[0] for line in rank.output if line.stream == "stdout"]
        expect.that(
            texts == ["made", "reports"],
            'each rank to print "made …" and then "reports …", once',
            f"rank {rank.rank} printed {', '.join(texts) or 'nothing'}",
            hint="Leave the two lines with print as they are, and add lines around them.",
        )
    made = {rank.rank: rank.output[0].t for rank in run.ranks}
    reported = {rank.rank: rank.output[1].t for rank in run.ranks}
    early, late = min(reported, key=reported.get), max(made, key=made.get)
    expect.that(
        reported[early] > made[late],
        "no rank to report before all ranks have made their tensors",
        f"rank {early} reported at {reported[early]:.2f} s, and rank {late} made its tensor at {made[late]:.2f} s",
        hint="What must be done on all ranks stands before the barrier, what must wait for it stands after it.",
    )
    expect.values(
        run,
        lambda rank, world_size: [[10 * rank, 10 * rank + 1, 10 * rank + 2], False],
        hint="The second value says whether the group is still there: leave it with dist.destroy_process_group().",
    )
