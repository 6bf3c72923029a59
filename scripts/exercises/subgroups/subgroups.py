"""Two machines add up: first their leaders, then everybody hears the sum.

The first rank of each machine is its leader.  The leaders add their numbers,
and each leader sends the sum to the ranks of its machine.  At the end all
ranks meet, in one more group.  The program never ends well.  Mend it, so that
every rank returns the sum of the leaders' numbers.  The groups keep their
members, and nothing uses the default group.
"""

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, per_machine: int = 2) -> float:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    total = torch.tensor([rank + 1.0], device=device)
    leader = rank - rank % per_machine  # of my machine
    if rank == leader:
        leaders = dist.new_group(list(range(0, world_size, per_machine)))
        dist.all_reduce(total, group=leaders)
    mine = dist.new_group(list(range(leader, leader + per_machine)))
    dist.broadcast(total, src=leader, group=mine)
    everybody = dist.new_group()  # leave these two lines as they are
    dist.barrier(group=everybody)
    return total.item()


if __name__ == "__main__":
    main(worker, world_size=4)
