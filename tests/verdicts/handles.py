"""Two operations in flight: the rank waits for the first, or for the second, that the other one has not started."""

# run: wanted=1
# outcome: hung
# kind: in-flight
# guilty: 1
# lines: 0:W1 1:STUCK
# says: "1st all_reduce"
#
# run: wanted=2
# outcome: hung
# kind: in-flight
# guilty: 1
# lines: 0:W2 1:STUCK
# says: "2nd all_reduce"
#
# run: wanted=3
# outcome: hung
# kind: in-flight
# guilty: 1
# lines: 0:FUT 1:STUCK
# says: "2nd all_reduce"
import os

import torch
import torch.distributed as dist


def worker(rank, world_size, *, wanted: int = 1):
    handles = [dist.all_reduce(torch.ones(2), async_op=True) for _ in range(2) if rank == 0]
    if rank == 1:
        if wanted > 1:
            dist.all_reduce(torch.ones(2))
        os.read(os.pipe()[0], 1)  # STUCK
    if wanted == 1:
        handles[0].wait()  # W1
    elif wanted == 2:
        handles[1].wait()  # W2
    else:
        handles[1].get_future().wait()  # FUT
