"""Every epoch ends, rank 0 (or every rank) validates once in each, and BatchNorm learns from training batches only."""

from barrier_lab.english import who
from barrier_lab.exercises import expect

EDITED = ("worker",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("hang", r"output = model\([\s\S]*dist\.barrier\(\)")
RUNS = [
    {"world_size": 2, "deadline": 8.0},
    {"world_size": 3, "epochs": 3, "iterations": 1, "deadline": 8.0},
]


def judge(run):
    epochs, iterations = run.trace.parameters["epochs"], run.trace.parameters["iterations"]
    results = [rank.result if isinstance(rank.result, dict) else {} for rank in run.ranks]
    validations = [result.get("validations") for result in results]
    expect.that(
        validations[0] == epochs and set(validations[1:]) <= {0, epochs},
        f"{epochs} validations on rank 0, one an epoch",
        f"the ranks validated {', '.join(map(str, validations))} times",
        hint="Keep the validation; only the way in which the model is called must change.",
    )
    batches = [result.get("batches") for result in results]
    expect.that(
        batches == [epochs * iterations] * len(batches),
        f"the BatchNorm of every rank to learn from {epochs * iterations} batches",
        f"{who(range(len(batches)))} learnt from {', '.join(map(str, batches))}",
        hint="It must learn from every training batch and from no other: in which mode is the model, and when?",
    )
    expect.calls(run, ["barrier"] * epochs, "All ranks meet once after each epoch.", only=["barrier"])
