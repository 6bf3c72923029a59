"""A sub-group of three of four ranks, one of which is stuck; the rank outside is not missing from anything there."""

# run: world_size=4
# outcome: hung
# kind: group
# guilty: 2
# also: 0 3
# lines: 2:STUCK 0:IN 3:IN 1:B
# says: "ranks 0, 2 and 3"
# not: "[Rr]ank 1 had not called"
import os

import torch
import torch.distributed as dist


def worker(rank, world_size):
    group = dist.new_group([0, 2, 3])
    if rank == 2:
        os.read(os.pipe()[0], 1)  # STUCK
    if rank != 1:
        dist.all_reduce(torch.ones(1), group=group)  # IN
    dist.barrier()  # B
