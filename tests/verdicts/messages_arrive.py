"""A pipeline of three stages, a slow first one; and a ring in which even ranks send first."""

# run: world_size=3 how="pipeline"
# outcome: completed
# kind: slow
# guilty: none
# not: "[Nn]ot called" "cycle"
#
# run: world_size=4 how="ring"
# outcome: completed
# kind: healthy
# guilty: none
# not: "[Nn]ot called" "cycle"
import time

import torch
import torch.distributed as dist


def worker(rank, world_size, *, how: str = "pipeline"):
    x, y = torch.ones(1 << 18), torch.empty(1 << 18)
    before, after = (rank - 1) % world_size, (rank + 1) % world_size
    for batch in range(3):
        if how == "pipeline":
            if rank > 0:
                dist.recv(x, src=before, tag=batch)
            else:
                time.sleep(0.2)
            if rank < world_size - 1:
                dist.send(x, dst=after, tag=batch)
        elif rank % 2:
            dist.recv(y, src=before)
            dist.send(x, dst=after)
        else:
            dist.send(x, dst=after)
            dist.recv(y, src=before)
    dist.barrier()
