"""Everybody waits for a message before sending one: two ranks, or a ring of three."""

# run:
# outcome: hung
# kind: cycle
# lines: 0:R 1:R
# says: "recv"
#
# run: world_size=3
# outcome: hung
# kind: cycle
# lines: 0:R 1:R 2:R
# says: "rank 0" "rank 1" "rank 2"
import torch
import torch.distributed as dist


def pass_on(x, rank, world_size):
    taken = torch.empty_like(x)
    dist.recv(taken, src=(rank - 1) % world_size)  # R
    dist.send(x, dst=(rank + 1) % world_size)  # S
    return taken


def worker(rank, world_size):
    pass_on(torch.ones(2), rank, world_size)
    dist.barrier()
