"""Solution: read the clock before the barrier.

After it, each rank's figure would hold its work and its wait, and these add up to the work of the slowest rank.
"""

import time

import torch.distributed as dist

from barrier_lab import main


def work(rank: int, slow_rank: int) -> None:
    """Stands for loading and computing."""
    time.sleep(1.0 if rank == slow_rank else 0.2)


def worker(rank: int, world_size: int, *, slow_rank: int = 1) -> float:
    began = time.monotonic()
    work(rank, slow_rank)
    seconds = time.monotonic() - began
    dist.barrier()
    print(f"worked for {seconds:.3f} s")
    return seconds


if __name__ == "__main__":
    main(worker, world_size=3)
