"""Two pairs, each made in its own branch: does each rank find its partner?

Sometimes.  Every rank makes one group, so both pairs are group 1, and the
ranks of one may take those of the other for their own.
"""

from datetime import timedelta

import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, patience: float = 4.0) -> None:
    wait = timedelta(seconds=patience)
    if rank < 2:
        pair = dist.new_group([0, 1], timeout=wait)
    if rank >= 2:
        pair = dist.new_group([2, 3], timeout=wait)
    print(f"made group {pair.group_name}")
    dist.barrier(group=pair)
    print("my pair has met")


if __name__ == "__main__":
    main(worker, world_size=4)
