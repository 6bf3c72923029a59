"""A pipeline with an error in its arithmetic: the message goes to the next but one stage."""

# run: world_size=3
# outcome: hung
# kind: message
# guilty: 1
# lines: 1:R 0:B 2:B
# says: "from rank 0" "to rank 2"
import torch
import torch.distributed as dist


def worker(rank, world_size):
    x = torch.ones(4)
    if rank == 0:
        dist.isend(x, dst=2)
    elif rank == 1:
        dist.recv(x, src=0)  # R
    dist.barrier()  # B
