"""A clean-up that Python calls at exit is collective; one rank gets there by an error."""

# run:
# outcome: hung
# kind: exception
# guilty: 1
# lines: 1:CAUSE 0:A
# says: "RuntimeError: cache is corrupt"
import atexit

import torch
import torch.distributed as dist


def worker(rank, world_size):
    atexit.register(dist.barrier)
    for step in range(4):
        if rank == 1 and step == 2:
            raise RuntimeError("cache is corrupt")  # CAUSE
        dist.all_reduce(torch.ones(1))  # A
