"""A rank leaves in the middle of the training, by each of the ways in which a process can."""

# run: how="return"
# outcome: failed
# kind: early-exit
# guilty: 1
# lines: 0:A
#
# run: how="exit0"
# outcome: failed
# kind: early-exit
# guilty: 1
# lines: 1:EXIT0 0:A
#
# run: how="exit3" world_size=3
# outcome: failed
# kind: early-exit
# guilty: 1
# lines: 1:EXIT3 0:A
# says: "code 3"
#
# run: how="os_exit"
# outcome: failed
# kind: early-exit
# guilty: 1
# lines: 0:A
# says: "code 7"
import os
import sys

import torch
import torch.distributed as dist


def worker(rank, world_size, *, how: str = "return"):
    for step in range(5):
        if rank == 1 and step == 3:
            if how == "return":
                return
            if how == "exit0":
                sys.exit(0)  # EXIT0
            if how == "exit3":
                sys.exit(3)  # EXIT3
            os._exit(7)
        dist.all_reduce(torch.ones(1))  # A
