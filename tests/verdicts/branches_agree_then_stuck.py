"""Two lines that always pair are no difference, also not when a rank is missing later for a reason of its own."""

# run: world_size=3
# outcome: hung
# kind: absent-call
# guilty: 2
# lines: 2:STUCK 0:LEFT 1:RIGHT
# not: "differ" "paired"
import os

import torch
import torch.distributed as dist


def worker(rank, world_size):
    for step in range(3):
        if (rank, step) == (2, 2):
            os.read(os.pipe()[0], 1)  # STUCK
        if rank == 0:
            dist.all_reduce(torch.ones(2))  # LEFT
        else:
            dist.all_reduce(torch.ones(2))  # RIGHT
