"""May a rank work between its call of barrier and its wait for the others?

Yes.  With async_op=True the call only announces the rank, and returns a
handle.  handle.wait() returns when all ranks have called, and not before.
"""

import time
from typing import Literal

import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    delay: float = 2.0,
    other: float = 1.0,
    slow_rank: int = 0,
    when: Literal["before", "between", "after"] = "between",
    barrier: bool = True,
    wait: bool = True,
) -> None:
    if rank == slow_rank:
        time.sleep(delay)
    elif when == "before":
        time.sleep(other)  # other work
    print("calls barrier")
    handle = None
    if barrier:
        handle = dist.barrier(async_op=when == "between")
    if rank != slow_rank and when != "before":
        time.sleep(other)  # other work
        print("has done its other work")
    if handle and wait:
        handle.wait()
    print("goes on")


if __name__ == "__main__":
    main(worker)
