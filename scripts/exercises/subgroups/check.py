"""Every rank returns the sum of the leaders' numbers; leaders add, machines send, all meet, in groups of their own."""

from barrier_lab.exercises import expect

EDITED = ("worker",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("hang|crash", "")
RUNS = [
    {"world_size": 4, "deadline": 7.0},
    {"world_size": 2, "per_machine": 1, "deadline": 7.0},
]


def judge(run):
    size, step = run.trace.world_size, run.trace.parameters["per_machine"]
    total = float(sum(rank + 1 for rank in range(0, size, step)))
    expect.values(run, total, hint="The leaders add their numbers, and each leader sends the sum to its own machine.")
    expect.calls(
        run,
        lambda rank: ["all_reduce"] * (rank % step == 0) + ["broadcast", "barrier"],
        hint="Only members use a group: the leaders add, all ranks of a machine broadcast, and all ranks meet.",
        group=None,
    )
    used = sorted({span.rank for span in run.spans() if span.group == "default"})
    expect.that(
        not used,
        "every collective to name its group",
        f"rank {used[0] if used else 0} used the default group",
        hint="Keep the groups: who must call new_group so that they come about?",
    )
    # The lab tells apart groups of one name: "1" and "1 of (2, 3)".
    groups = [{span.group for span in run.spans(rank, "broadcast")}.pop() for rank in range(0, size, step)]
    machines = [group.partition(" of ")[0] for group in groups]
    expect.that(
        len(set(machines)) == len(machines),
        "a name of its own for the group of each machine",
        f"the groups of the machines had the names {', '.join(machines)}, so ranks may take strangers for members",
        hint="The name is the number of new_group calls that a rank has made: which ranks must make which groups?",
    )
