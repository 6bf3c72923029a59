"""The check of ``checkpoint``: every rank loads the whole file, with two barriers, and the file is gone at the end."""

from pathlib import Path

from barrier_lab import expect

RUNS = [
    dict(world_size=4, folder=expect.FRESH, deadline=5),
    dict(world_size=3, slow_rank=2, folder=expect.FRESH, deadline=5),
    dict(world_size=2, slow_rank=0, folder=expect.FRESH, deadline=5),
]


def judge(run):
    expect.values(run, 10, hint="All ranks load the five weights 0, 1, 2, 3, 4, and return their sum.")
    expect.calls(
        run,
        ["barrier", "barrier"],
        hint="Each rank calls two barriers. What must have happened before the loads, and what before the delete?",
        only=("barrier",),
    )
    saved = max((sleep.end for sleep in run.spans(0, "sleep")), default=0.0)
    early = [rank.rank for rank in run.ranks[1:] if run.spans(rank.rank, "barrier")[0].end < saved]
    slow = run.trace.parameters["slow_rank"]
    expect.that(
        slow == 0 or not early,
        "the other ranks to wait until rank 0 has saved",
        f"rank {early[0] if early else 0} went on before",
        hint="Before the loads, all ranks must know that the save is done.",
    )
    left = sorted(path.name for path in Path(run.trace.parameters["folder"]).iterdir())
    expect.that(not left, "an empty folder at the end", f"{', '.join(left)} was left", hint="Rank 0 deletes the file.")
