"""pytorch#141069: a rank has one batch less; training goes on, validation freezes in its second batch."""

# run: helper=False
# outcome: hung
# kind: skipped-call
# differ: 0:TRAIN2 1:VAL2
# says: "5th"
#
# run: helper=True
# outcome: hung
# kind: skipped-call
# differ: 0:TRAIN 1:VAL
# says: "5th"

import torch
import torch.distributed as dist


def mean(x):
    dist.all_reduce(x)  # H
    return x / dist.get_world_size()


def worker(rank, world_size, *, helper: bool = True, epochs: int = 2):
    train, val = 5 - rank, 3
    for _ in range(epochs):
        for _ in range(train):
            loss = torch.rand(1)
            if helper:
                mean(loss)  # TRAIN
            else:
                dist.all_reduce(loss)  # TRAIN2
        for i in range(val):
            loss = torch.rand(1)
            if helper:
                mean(loss)  # VAL
            else:
                dist.all_reduce(loss)  # VAL2
            print("validated", i)
        names = [None] * world_size
        dist.all_gather_object(names, rank)  # G
