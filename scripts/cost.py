"""What does a barrier in every step cost, if now and then a rank is late?

The wait for the slowest rank of each step.  If the ranks are late in turn, the
job pays for every one of them; a single barrier at the end lets them make up.
"""

import time

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    steps: int = 4,
    work: float = 0.2,
    delay: float = 0.6,
    in_turn: bool = True,
    barrier: bool = True,
    every_step: bool = True,
    all_reduce: bool = False,
) -> None:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    for step in range(steps):
        slow_rank = step % world_size if in_turn else 0
        time.sleep(work + delay if rank == slow_rank else work)
        if all_reduce:
            dist.all_reduce(torch.ones(1, device=device))
        if barrier and every_step:
            dist.barrier()
    if barrier and not every_step:
        dist.barrier()
    print("has done all steps")


if __name__ == "__main__":
    main(worker, world_size=4)
