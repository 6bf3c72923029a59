"""May the ranks that are not in a group leave out its new_group?

No.  Groups are counted on each rank, and found by that number.  The group
itself works, but the next one has two numbers and never comes about.
"""

import time
from datetime import timedelta

import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    skip: bool = True,
    local: bool = False,
    local_too: bool = False,
    patience: float = 4.0,
) -> None:
    wait = timedelta(seconds=patience)
    if rank < 2 or not skip:
        pair = dist.new_group([0, 1], timeout=wait, use_local_synchronization=local)
    if rank < 2:
        dist.barrier(group=pair)
        print(f"the pair has met: group {pair.group_name}")
    time.sleep(0.5)  # works
    everybody = dist.new_group(timeout=wait, use_local_synchronization=local_too)
    dist.barrier(group=everybody)
    print(f"everybody has met: group {everybody.group_name}")


if __name__ == "__main__":
    main(worker, world_size=4)
