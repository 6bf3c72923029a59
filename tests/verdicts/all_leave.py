"""All ranks leave by `sys.exit(0)` after the last barrier, or one of them works on alone after it."""

# run: how="exit"
# outcome: completed
# kind: early-exit
# guilty: none
# not: "[Nn]ot called"
#
# run: how="alone"
# outcome: completed
# kind: healthy
# guilty: none
# not: "[Nn]ot called"
import sys
import time

import torch.distributed as dist


def worker(rank, world_size, *, how: str = "exit"):
    dist.barrier()
    if how == "exit":
        sys.exit(0)
    if rank == 0:
        time.sleep(0.7)  # writes the report
