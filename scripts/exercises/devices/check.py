"""The check of ``devices``: the plan of each rank for several imagined clusters, and that all meet once."""

from barrier_lab.exercises import expect

EDITED = ("plan", "worker")  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("wrong", "ranks 0-3 returned")
RUNS = [
    dict(world_size=4, nodes=2, gpus=2, backend="gloo", deadline=8),
    dict(world_size=2, nodes=1, gpus=1, backend="gloo", deadline=8),
    dict(world_size=3, nodes=1, gpus=4, backend="gloo", deadline=8),
    dict(world_size=4, nodes=2, gpus=1, backend="gloo", deadline=8),
]


def judge(run):
    nodes, gpus = run.trace.parameters["nodes"], run.trace.parameters["gpus"]

    def wanted(rank: int, world_size: int) -> list[str]:
        ranks_here = world_size // nodes
        return ["nccl", f"cuda:{rank % ranks_here}"] if gpus >= ranks_here else ["gloo", "cpu"]

    expect.values(
        run, wanted, hint=f"{nodes} machine(s) with {gpus} GPU(s) each: how many ranks does one of them have?"
    )
    expect.calls(run, ["barrier"], hint="Every rank calls one barrier.")
