"""Twelve files, two machines with two processes each: every file is read once.

The share of a rank goes by its number in the whole job and by the number of
all processes, wherever they run.  No barrier is needed: nobody can be met
before the group exists, and ``all_reduce`` waits for all by itself.
"""

import torch
import torch.distributed as dist

from barrier_lab import main

FILES = list(range(12))


def worker(rank: int, world_size: int, *, machines: int = 2) -> list:
    dist.init_process_group("gloo")

    mine = FILES[rank::world_size]

    total = torch.tensor(len(mine))
    dist.all_reduce(total)
    dist.destroy_process_group()
    return [mine, int(total)]


if __name__ == "__main__":
    main(worker, init=False, world_size=4)
