"""The sides of an `if` on the rank call the same collective on two lines: right, and no difference to report."""

# run: world_size=3
# outcome: completed
# kind: healthy
# guilty: none
# not: "differ" "paired" "[Nn]ot called"
import time

import torch
import torch.distributed as dist


def worker(rank, world_size):
    for _ in range(3):
        if rank == 0:
            time.sleep(0.05)
            dist.barrier()
        else:
            dist.barrier()
        loss = torch.ones(1)
        if rank % 2:
            dist.all_reduce(loss)
        else:
            loss *= 2
            dist.all_reduce(loss)
