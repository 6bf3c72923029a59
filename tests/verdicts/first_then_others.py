"""Rank 0 fills the cache while the others wait, then they read it."""

# run: world_size=3
# outcome: completed
# kind: slow
# guilty: none
# lines: 0:HERE
# not: "[Nn]ot called" "differ"
import contextlib
import time

import torch.distributed as dist


@contextlib.contextmanager
def main_process_first(rank):
    if rank != 0:
        dist.barrier()  # WAITS
    yield
    if rank == 0:
        dist.barrier()  # HERE


def worker(rank, world_size):
    with main_process_first(rank):
        time.sleep(0.5 if rank == 0 else 0.05)
    return "ready"
