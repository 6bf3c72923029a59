"""Solution: every rank makes every group, in one order; only members use it.

The leaders' group comes first on all ranks, then the group of each machine,
also on ranks that are in none of these.
"""

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, per_machine: int = 2) -> float:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    total = torch.tensor([rank + 1.0], device=device)
    leader = rank - rank % per_machine  # of my machine
    all_leaders = list(range(0, world_size, per_machine))
    leaders = dist.new_group(all_leaders)
    machines = [dist.new_group(list(range(first, first + per_machine))) for first in all_leaders]
    if rank == leader:
        dist.all_reduce(total, group=leaders)
    mine = machines[rank // per_machine]
    dist.broadcast(total, src=leader, group=mine)
    everybody = dist.new_group()  # leave these two lines as they are
    dist.barrier(group=everybody)
    return total.item()


if __name__ == "__main__":
    main(worker, world_size=4)
