"""Twelve files, two machines with two processes each: each is read once.

As it stands, the program fails, and not by one mistake only.  Repair it:
each rank returns the files that it has read and the number of files that
all ranks have read together.
"""

import torch
import torch.distributed as dist

from barrier_lab import main

FILES = list(range(12))


def worker(rank: int, world_size: int, *, machines: int = 2) -> list:
    local_rank = rank % (world_size // machines)

    dist.barrier()  # everybody is here
    dist.init_process_group("gloo")
    dist.barrier()

    mine = FILES[local_rank::machines]

    total = torch.tensor(len(mine))
    dist.all_reduce(total)
    dist.destroy_process_group()
    return [mine, int(total)]


if __name__ == "__main__":
    main(worker, init=False, world_size=4)
