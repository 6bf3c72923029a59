"""Objects of other sizes on each rank, an uneven scatter, and a reduce whose result only rank 0 has."""

# run: world_size=3
# outcome: completed
# kind: healthy
# guilty: none
# not: "[Nn]ot called" "differ"
import torch
import torch.distributed as dist


def worker(rank, world_size):
    seen = [None] * world_size
    dist.all_gather_object(seen, "x" * 10**rank)
    part = [None]
    dist.scatter_object_list(part, [[r] * r for r in range(world_size)] if rank == 0 else None, src=0)
    total = torch.ones(1)
    dist.reduce(total, dst=0)
    dist.barrier()
    return [len(s) for s in seen]
