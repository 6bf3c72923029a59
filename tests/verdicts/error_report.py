"""The handler of an error tells all ranks about it by a collective of its own, and the others are elsewhere."""

# run: world_size=3
# outcome: hung
# kind: exception
# differ: 0:A 1:G
# lines: 1:CAUSE 1:G 0:A 2:A
# says: "KeyError: .?.?label"
import torch
import torch.distributed as dist


def loss(rank, step):
    sample = {"image": 1.0} if (rank, step) == (1, 2) else {"image": 1.0, "label": 0.0}
    return torch.tensor([sample["image"] - sample["label"]])  # CAUSE


def report(error, world_size):
    seen = [None] * world_size
    dist.all_gather_object(seen, repr(error))  # G
    print(seen)


def worker(rank, world_size):
    try:
        for step in range(4):
            dist.all_reduce(loss(rank, step))  # A
    except KeyError as error:
        report(error, world_size)
