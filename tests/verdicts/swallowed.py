"""A bad sample raises on one rank, the loop swallows it and goes on: that rank has called one all_reduce less."""

# run:
# outcome: hung
# kind: skipped-call
# differ: 0:A 1:B
# lines: 0:A 1:B
import torch
import torch.distributed as dist


def decode(rank, step):
    if rank == 1 and step == 2:
        raise ValueError("truncated image")
    return torch.ones(2)


def worker(rank, world_size):
    for step in range(5):
        try:
            dist.all_reduce(decode(rank, step))  # A
        except ValueError:
            print("skipped a sample")
    dist.barrier()  # B
