"""torchtitan#1342, ai2cm/ace#1067: the clean-up in `finally` is itself collective; one rank raises."""

# run: how="barrier"
# outcome: hung
# kind: exception
# differ: 0:A 1:B
# lines: 1:CAUSE
# says: "ValueError: bad sample in step 3"
#
# run: how="swallow"
# outcome: failed
# kind: exception
# guilty: 1
# lines: 1:CAUSE 0:A
# says: "ValueError: bad sample in step 3"

import torch
import torch.distributed as dist


def train(rank, steps):
    for step in range(steps):
        if rank == 1 and step == 3:
            raise ValueError(f"bad sample in step {step}")  # CAUSE
        dist.all_reduce(torch.ones(4))  # A


def worker(rank, world_size, *, how: str = "barrier", steps: int = 6):
    try:
        train(rank, steps)  # T
    finally:
        if how == "barrier":
            dist.barrier()  # B
        if how == "swallow":
            print("shut down")
        dist.destroy_process_group()  # D
