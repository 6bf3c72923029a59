"""Rank 0 serves requests in a loop of recv from anybody, and never learns that the clients are done."""

# run: world_size=3
# outcome: hung
# kind: message
# guilty: 0
# lines: 0:ANY 1:B 2:B
# says: "recv"
#
# run: world_size=3 named=True
# outcome: hung
# kind: message
# guilty: 0
# lines: 0:NEXT 1:B 2:B
# says: "recv from rank 1"
import torch
import torch.distributed as dist


def serve(world_size, named):
    for number in range(2 * world_size):
        request = torch.empty(1)
        if named:
            dist.recv(request, src=1 + number % (world_size - 1))  # NEXT
        else:
            dist.recv(request)  # ANY


def worker(rank, world_size, *, named: bool = False):
    if rank == 0:
        serve(world_size, named)
    else:
        dist.send(torch.ones(1), dst=0)
    dist.barrier()  # B
