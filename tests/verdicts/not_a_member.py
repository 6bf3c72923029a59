"""A rank synchronises on a group to which it does not belong: that does nothing, and it misses the right barrier."""

# run: world_size=3
# outcome: hung
# kind: absent-call
# guilty: 2
# lines: 2:POLL 0:B 1:B
import time
import warnings

import torch.distributed as dist


def wait_for_checkpoint():
    while True:
        time.sleep(0.1)  # POLL


def worker(rank, world_size):
    warnings.simplefilter("ignore")
    writers = dist.new_group([0, 1])
    dist.barrier(group=writers if rank == 2 else None)  # B
    if rank == 2:
        wait_for_checkpoint()
