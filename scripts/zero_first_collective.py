"""What happens when the block that rank 0 runs first holds a collective?

Nobody goes on: rank 0 waits in it for the others, and they wait at the barrier for rank 0.
"""

import torch
import torch.distributed as dist

from barrier_lab import main
from zero_first import zero_first


def worker(rank: int, world_size: int) -> None:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    rows = torch.full((2,), 500, device=device)  # two files of 500 rows
    with zero_first(rank):
        dist.all_reduce(rows)
        print(f"counts {int(rows.sum())} rows on all ranks")


if __name__ == "__main__":
    main(worker, world_size=4)
