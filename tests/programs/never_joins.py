"""Rank 1 raises in the first attempt; in the second one it does not come, so that rank 0 cannot connect to it."""

import os
import time

import torch.distributed as dist

from barrier_lab import main
from barrier_lab.rank import common_start

common_start.STARTUP_LIMIT = 5.0


def worker(rank: int, world_size: int) -> None:
    dist.barrier()
    if rank == 1:
        raise RuntimeError("a mistake in the experiment")
    dist.barrier()


if __name__ == "__main__":
    if os.environ["TORCHELASTIC_RESTART_COUNT"] == "1" and os.environ["RANK"] == "1":
        time.sleep(1000)
    main(worker)
