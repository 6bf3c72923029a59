"""A helper swallows the timeout of a collective that one rank never called, and all goes on."""

# run: deadline=30
# outcome: completed
# kind: absent-call
# lines: 0:SYNC 1:END
# says: "caught an error" "timeout of 2 s"
from datetime import timedelta

import torch
import torch.distributed as dist


def safe_sync(tensor, group):
    try:
        dist.all_reduce(tensor, group=group)  # SYNC
    except RuntimeError as error:
        print("sync failed, going on:", str(error)[:40])


def worker(rank, world_size):
    group = dist.new_group(timeout=timedelta(seconds=2))
    for step in range(2):
        if rank == 0 or step == 0:
            safe_sync(torch.ones(1), group)
    dist.barrier()  # END
