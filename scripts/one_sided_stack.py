"""On which line does each rank stand?

``faulthandler`` writes a rank's stack after a number of seconds, even while the
rank is blocked inside a collective.
"""

import faulthandler
import time

import torch.distributed as dist

from barrier_lab import main


def validate(seconds: float) -> None:
    time.sleep(seconds)  # too many


def worker(
    rank: int,
    world_size: int,
    *,
    missing: int = 2,
    patience: float = 1.0,
    busy: float = 3.0,
) -> None:
    faulthandler.dump_traceback_later(patience)  # in your job: 300, say
    if rank == missing:
        validate(busy)
    dist.barrier()
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main(worker, world_size=4)
