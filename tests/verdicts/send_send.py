"""NVIDIA/nccl#479: both ranks send first, then receive."""

# run:
# outcome: hung
# kind: cycle
# lines: 0:S 1:S
# says: "recv"
#
# run: tags=True world_size=3
# outcome: hung
# kind: message
# guilty: 1
# lines: 1:T 0:B 2:B
# says: "from rank 0" "tag 1" "tag 0"

import torch
import torch.distributed as dist


def exchange(x, peer):
    y = torch.empty_like(x)
    dist.send(x, dst=peer)  # S
    dist.recv(y, src=peer)  # R
    return y


def worker(rank, world_size, *, tags: bool = False):
    x = torch.full((1 << 20,), float(rank))
    if tags:  # three ranks: the message to rank 1 carries another tag than it asks for
        if rank == 0:
            dist.isend(x, dst=1, tag=0)
        elif rank == 1:
            dist.recv(x, src=0, tag=1)  # T
        dist.barrier()  # B
        return
    exchange(x, rank ^ 1)
    dist.barrier()
