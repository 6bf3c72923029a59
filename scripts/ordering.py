"""Are two barrier calls on two different lines one barrier?

Yes.  Each rank calls barrier once, so the calls belong together:
the others pass line A when rank 0 has come to line B.
"""

import time

import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    pause: float = 1.0,
    barrier: bool = True,
) -> None:
    print("first before")
    if rank != 0:
        if barrier:
            dist.barrier()  # line A
        print("first after")
    print("inter")
    time.sleep(pause)
    print("second before")
    if rank == 0:
        if barrier:
            dist.barrier()  # line B
        print("second after")
    print("exit")


if __name__ == "__main__":
    main(worker)
