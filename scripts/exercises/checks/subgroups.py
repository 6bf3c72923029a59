"""Every rank returns the sum of the leaders' numbers; leaders add, machines send, and the default group is not used."""

from barrier_lab import expect

RUNS = [
    {"world_size": 4, "deadline": 4.0},
    {"world_size": 2, "per_machine": 1, "deadline": 4.0},
]


def judge(run):
    size, step = run.trace.world_size, run.trace.parameters["per_machine"]
    total = float(sum(rank + 1 for rank in range(0, size, step)))
    expect.values(run, total, hint="The leaders add their numbers, and each leader sends the sum to its own machine.")
    expect.calls(
        run,
        lambda rank: ["all_reduce", "broadcast"] if rank % step == 0 else ["broadcast"],
        hint="Only members use a group: the leaders add, and then all ranks of a machine take part in its broadcast.",
        group=None,
    )
    used = sorted({span.rank for span in run.spans() if span.group == "default"})
    expect.that(
        not used,
        "every collective to name its group",
        f"rank {used[0] if used else 0} used the default group",
        hint="Keep the groups: who must call new_group so that they come about?",
    )
