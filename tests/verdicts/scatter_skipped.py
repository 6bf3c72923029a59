"""Rank 0 scatters parts of a batch; one rank has its own data and does not take its part."""

# run: world_size=3
# outcome: hung
# kind: skipped-call
# differ: 0:PART 2:DONE
# lines: 2:DONE
import torch
import torch.distributed as dist


def part_of_batch(rank, world_size):
    part = torch.empty(1 << 20)
    parts = [torch.full((1 << 20,), float(r)) for r in range(world_size)] if rank == 0 else None
    dist.scatter(part, parts, src=0)  # PART
    return part


def worker(rank, world_size):
    x = torch.ones(1 << 20) if rank == 2 else part_of_batch(rank, world_size)
    total = x.sum()
    dist.all_reduce(total)  # DONE
    print(total.item())
