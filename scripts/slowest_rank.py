"""How long does a fast rank wait at a barrier?

Until the slowest rank has come.
All ranks then leave almost together, whatever their own clocks say.
"""

import time

import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    delay: float = 5.0,
    slow_rank: int = 1,
    late_clock: float = 0.0,
    rounds: int = 1,
    barrier: bool = True,
) -> None:
    if rank == 0 and late_clock > 0:
        time.sleep(late_clock)
    clock = time.monotonic()  # this rank's own clock starts here
    if rank == slow_rank:
        time.sleep(delay)
    for number in range(1, rounds + 1):
        if barrier:
            dist.barrier()
        seconds = time.monotonic() - clock
        print(f"report {number}: {seconds:.6f} s on my clock")


if __name__ == "__main__":
    main(worker)
