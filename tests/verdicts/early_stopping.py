"""Each rank decides by its own loss, or its own clock, when to stop: they stop in different steps."""

# run: by="loss"
# outcome: hung
# kind: skipped-call
# differ: 0:A 1:G
# lines: 0:A 1:G
# says: "4th"
#
# run: by="clock"
# outcome: hung
# kind: skipped-call
# differ: 0:A 1:G
# lines: 0:A 1:G
import time

import torch
import torch.distributed as dist


def enough(rank, step, by, began):
    if by == "loss":
        return 1.0 / (1 + step * (1 + rank)) < 0.2  # the loss of rank 1 falls faster
    return time.monotonic() + 100 * rank > began + 60  # the clock of rank 1 is ahead


def worker(rank, world_size, *, by: str = "loss"):
    began, step = time.monotonic(), 0
    while not enough(rank, step, by, began):
        step += 1
        dist.all_reduce(torch.ones(1))  # A
    steps = [None] * world_size
    dist.all_gather_object(steps, step)  # G
