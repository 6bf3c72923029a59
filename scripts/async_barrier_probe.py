"""Is everybody here yet?  Can a rank ask that, and wait on if not?

Yes, with the handle of an asynchronous barrier.  On gloo a wait that runs out
of patience harms nothing; the barrier is still in flight.
"""

import os
import time
from datetime import timedelta

import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    delay: float = 2.0,
    patience: float = 0.6,
    slow_rank: int = 0,
    leaves: bool = False,  # the slow rank never calls
) -> None:
    limit = timedelta(seconds=patience)
    os.environ["TORCH_DIST_INIT_BARRIER"] = "1"  # new_group waits for all
    checks = dist.new_group(backend="gloo")  # every rank makes every group
    if rank == slow_rank:
        time.sleep(delay)
        if leaves:
            return
    handle = dist.barrier(checks, async_op=True)
    while not handle.is_completed():
        try:
            handle.wait(limit)
        except RuntimeError:
            print("not everybody is here yet")
    handle.wait()  # if the barrier has failed, this says so
    print("everybody is here")
    dist.barrier(checks)
    print("passed another barrier of the same group")


if __name__ == "__main__":
    main(worker)
