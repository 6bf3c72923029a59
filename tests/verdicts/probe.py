"""A rank asks by a short wait whether the others are there yet, is told not, and asks again until they are."""

# run: world_size=3
# outcome: completed
# kind: slow
# guilty: none
# not: "[Nn]ot called"
import time
from datetime import timedelta

import torch.distributed as dist


def everybody_here(work):
    try:
        return work.wait(timedelta(seconds=0.3))  # ASK
    except RuntimeError:
        return False


def worker(rank, world_size):
    time.sleep(1.0 if rank == 2 else 0.0)
    work = dist.barrier(async_op=True)
    asked = 1
    while rank == 0 and not everybody_here(work):
        asked += 1
    work.wait()
    return asked
