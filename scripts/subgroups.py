"""For whom does a barrier wait that is given a group?

For the members of that group, and for nobody else.  A rank that calls it
without being a member is not held: it gets a warning and goes on.
"""

import os
import time

import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    pause: float = 0.5,
    first: bool = False,  # True: all ranks call the barrier of pair 0
    barrier: bool = True,
) -> None:
    os.environ["TORCH_DIST_INIT_BARRIER"] = "1"  # new_group waits for all
    pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    pair = pairs[0] if first else pairs[rank // 2]
    time.sleep(pause * rank)
    print("before")
    if barrier:
        dist.barrier(group=pair)
    print("after")
    if barrier:
        dist.barrier()
    print("end")


if __name__ == "__main__":
    main(worker, world_size=4)
