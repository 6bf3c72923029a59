"""A rank is late, and comes: by a second, or in each step another one."""

# run: world_size=3 how="once"
# outcome: completed
# kind: slow
# guilty: none
# lines: 2:B
# not: "[Nn]ot called" "differ"
#
# run: world_size=3 how="turns"
# outcome: completed
# kind: slow
# guilty: none
# not: "[Nn]ot called" "differ"
import time

import torch
import torch.distributed as dist


def worker(rank, world_size, *, how: str = "once"):
    if how == "once":
        time.sleep(1.0 if rank == 2 else 0.0)
    for step in range(6 if how == "turns" else 0):
        time.sleep(0.2 if step % world_size == rank else 0.0)
        dist.all_reduce(torch.ones(4))
    dist.barrier()  # B
