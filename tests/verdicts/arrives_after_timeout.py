"""A cache takes longer to build than the group's timeout: its rank arrives when the other has given up."""

# run: deadline=20
# outcome: failed
# kind: absent-call
# lines: 0:CACHE 1:B
# says: "timeout of 2 s"
import time
from datetime import timedelta

import torch.distributed as dist


def build_cache():
    time.sleep(5)  # CACHE


def worker(rank, world_size):
    group = dist.new_group(timeout=timedelta(seconds=2))
    if rank == 0:
        build_cache()
    dist.barrier(group)  # B
