"""Each stage waits for the one before, and the first one for its input: one cause at the end of a chain."""

# run: world_size=4
# outcome: hung
# kind: message
# guilty: 0
# also: 1 2 3
# lines: 0:INPUT 1:R 2:R 3:R
# says: "from rank 0" "from rank 1" "from rank 2"
# not: "each other" "cycle"
import os

import torch
import torch.distributed as dist


def worker(rank, world_size):
    x = torch.ones(2)
    if rank == 0:
        os.read(os.pipe()[0], 1)  # INPUT
    else:
        dist.recv(x, src=rank - 1)  # R
    if rank + 1 < world_size:
        dist.send(x, dst=rank + 1)
