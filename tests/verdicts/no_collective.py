"""Nothing of torch.distributed is called: one rank works without end, or all are independent."""

# run: hangs=True
# outcome: hung
# kind: silence
# guilty: 1
# also: 0
# lines: 1:READ
# says: "[Nn]o rank called a collective"
#
# run: hangs=False
# outcome: completed
# kind: silence
# guilty: none
# says: "[Nn]o rank called a collective"
import os


def worker(rank, world_size, *, hangs: bool = False):
    if hangs and rank == 1:
        os.read(os.pipe()[0], 1)  # READ
    return rank * rank
