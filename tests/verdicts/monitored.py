"""A monitored barrier names the rank that is missing; the verdict says where that rank was."""

# run: world_size=3
# outcome: failed
# kind: absent-call
# guilty: 1
# lines: 1:SLOW 0:MON
import time
from datetime import timedelta

import torch.distributed as dist


def worker(rank, world_size):
    dist.barrier()
    if rank == 1:
        time.sleep(60)  # SLOW
    dist.monitored_barrier(timeout=timedelta(seconds=1), wait_all_ranks=True)  # MON
