"""One rank skips one barrier.  What happens at all the later ones?

Each of its later calls pairs with an earlier step of the others.
It shows in the last step, where a call is missing.
"""

import time

import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    steps: int = 3,
    work: float = 0.5,
    skip_rank: int = 3,
) -> None:
    for step in range(1, steps + 1):
        if rank == skip_rank and step == 1:
            continue  # nothing to do; this skips the barrier, too
        time.sleep(work)
        dist.barrier()
        print(f"passed the barrier of step {step}")
    print("has done all steps")


if __name__ == "__main__":
    main(worker, world_size=4)
