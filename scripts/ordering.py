"""Are two barrier calls on two different lines one barrier?

Yes.  Rank 1 calls barrier in one branch, rank 0 in another, 0.4 s later: rank 1 passes only after rank 0 has arrived.
"""

import time

import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, pause: float = 0.4) -> None:
    print("first before")
    if rank != 0:
        dist.barrier()
        print("first after")
    print("inter")
    time.sleep(pause)
    print("second before")
    if rank == 0:
        dist.barrier()
        print("second after")
    print("exit")


if __name__ == "__main__":
    main(worker)
