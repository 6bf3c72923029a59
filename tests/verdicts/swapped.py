"""Two ranks call the same two collectives in the other order: what is first on one is second on the other."""

# run: world_size=2
# outcome: hung
# kind: mismatch
# differ: 0:FIRST 1:OTHER
# says: "broadcast" "barrier"
#
# run: world_size=3
# outcome: hung
# kind: mismatch
# differ: 0:FIRST 1:OTHER
# says: "2nd"
import torch
import torch.distributed as dist


def worker(rank, world_size):
    weights = torch.zeros(4) + rank
    dist.all_reduce(torch.ones(1))
    if rank == 1:
        dist.barrier()  # OTHER
        dist.broadcast(weights, src=0)
    else:
        dist.broadcast(weights, src=world_size - 1)  # FIRST
        dist.barrier()
