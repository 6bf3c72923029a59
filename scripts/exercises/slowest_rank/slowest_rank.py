"""Exercise: find the slow rank.

Each rank works, and one of them is slow; then all meet.
Each rank returns the seconds that it has worked, so that somebody can see who was slow.
As it stands, all ranks return nearly the same.
Mend it, so that each rank returns the time of its own work.  The barrier stays where it is, after the work.
"""

import time

import torch.distributed as dist

from barrier_lab import main


def work(rank: int, slow_rank: int) -> None:
    """Stands for loading and computing.  Leave this function as it is."""
    time.sleep(1.0 if rank == slow_rank else 0.2)


def worker(rank: int, world_size: int, *, slow_rank: int = 1) -> float:
    began = time.monotonic()
    work(rank, slow_rank)
    dist.barrier()
    seconds = time.monotonic() - began
    print(f"worked for {seconds:.3f} s")
    return seconds


if __name__ == "__main__":
    main(worker, world_size=3)
