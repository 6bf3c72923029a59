"""How long does a fast rank wait at a barrier?

As long as the slowest rank needs: all ranks are released at the same instant.
"""

import time

import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, delay: float = 5.0, slow_rank: int = 1, late_clock: float = 0.0) -> None:
    if rank == 0:
        time.sleep(late_clock)
    began = time.monotonic()
    if rank == slow_rank:
        time.sleep(delay)
    dist.barrier()
    print(f"first barrier after {time.monotonic() - began:.6f} s")
    dist.barrier()
    print(f"second barrier after {time.monotonic() - began:.6f} s")


if __name__ == "__main__":
    main(worker)
