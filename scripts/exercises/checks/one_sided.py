"""All ranks meet once, and each says how many records it could read."""

from barrier_lab.exercises import expect

RUNS = [
    {"world_size": 4, "deadline": 7.0},
    {"world_size": 3, "torn": 0, "deadline": 7.0},
    {"world_size": 2, "torn": -1, "deadline": 7.0},  # nothing is wrong with the records
]


def judge(run):
    torn = run.trace.parameters["torn"]
    expect.calls(run, ["barrier"], "Whatever a rank has found, it must come to the barrier, and only once.")
    hint = "Only the record that cannot be read is left out: give up on it, and go on with the next one."
    expect.values(run, lambda rank, world_size: 2 if rank == torn else 3, hint)
