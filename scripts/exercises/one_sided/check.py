"""All ranks meet once, and each says how many records it could read."""

from barrier_lab.exercises import expect

EDITED = ("read", "worker")  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("hang", r"Rank 2 at one_sided\.py:\d+ .*time\.sleep")
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
