"""Rank 1 never gets as far as ``main``, so rank 0 waits for it before the common start."""

import os
import time

from barrier_lab import main
from barrier_lab.rank import common_start

common_start.STARTUP_LIMIT = 3.0


def worker(rank: int, world_size: int) -> None:
    pass


if __name__ == "__main__":
    if os.environ["RANK"] == "1":
        time.sleep(1000)
    main(worker)
