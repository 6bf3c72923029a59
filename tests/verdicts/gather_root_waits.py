"""In a gather only the destination waits for all: another rank is already at the next barrier, and one is stuck."""

# run: world_size=3
# outcome: hung
# kind: absent-call
# guilty: 1
# also: 0
# lines: 0:GATHER 1:STUCK 2:B
import os

import torch
import torch.distributed as dist


def collect(rank, world_size):
    parts = [torch.empty(2) for _ in range(world_size)] if rank == 0 else None
    dist.gather(torch.ones(2), parts, dst=0)  # GATHER


def worker(rank, world_size):
    if rank == 1:
        os.read(os.pipe()[0], 1)  # STUCK
    collect(rank, world_size)
    dist.barrier()  # B
