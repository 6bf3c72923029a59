"""A step reduces in the background and computes meanwhile; one rank is stuck before it starts its own operation."""

# run: world_size=3
# outcome: hung
# kind: in-flight
# guilty: 0
# lines: 0:STUCK 1:WAIT 2:WAIT
# says: "3rd all_reduce"
import os

import torch
import torch.distributed as dist


class Reducer:
    def start(self, x):
        self.work = dist.all_reduce(x, async_op=True)  # START

    def finish(self):
        self.work.wait()  # WAIT


def worker(rank, world_size):
    reducer = Reducer()
    for step in range(4):
        if (rank, step) == (0, 2):
            os.read(os.pipe()[0], 1)  # STUCK
        reducer.start(torch.ones(8))
        torch.randn(16, 16).sum()
        reducer.finish()
