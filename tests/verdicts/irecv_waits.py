"""A rank posts a receive, works, and waits for it; the sender is stuck, or has sent with another tag."""

# run: how="stuck"
# outcome: hung
# kind: message
# guilty: 1
# lines: 0:W 1:STUCK
# says: "irecv from rank 1"
#
# run: how="tag"
# outcome: hung
# kind: message
# lines: 0:W 1:B
# says: "irecv from rank 1" "tag 7"
import os

import torch
import torch.distributed as dist


def worker(rank, world_size, *, how: str = "stuck"):
    x = torch.ones(4)
    if rank == 0:
        request = dist.irecv(x, src=1, tag=7)
        torch.randn(8, 8).sum()
        request.wait()  # W
    elif how == "stuck":
        os.read(os.pipe()[0], 1)  # STUCK
    else:
        dist.isend(x, dst=0, tag=8)
    dist.barrier()  # B
