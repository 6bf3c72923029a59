"""rwth-i6/returnn#1454: rank 0 alone evaluates with a DataLoader over a data pipe, which makes a group."""

# run:
# outcome: hung
# kind: hidden
# lines: 0:DEV
# says: "new_group"

import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.datapipes.iter import IterableWrapper


def worker(rank, world_size, *, epochs: int = 3):
    train = DataLoader(IterableWrapper(list(range(8))), batch_size=2)
    dev = DataLoader(IterableWrapper(list(range(4))), batch_size=2)
    for epoch in range(epochs):
        for batch in train:  # TRAIN
            dist.all_reduce(batch.float().sum())  # A
        if rank == 0:
            for batch in dev:  # DEV
                batch.float().mean().item()
        print("epoch", epoch)
