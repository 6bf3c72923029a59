"""Which rank did not come?

``monitored_barrier`` says it: when its timeout runs out, rank 0 names every
rank that it has not heard from.  It exists for gloo only, so it gets a gloo
group of its own, which an NCCL job can make as well.
"""

import os
import time
from datetime import timedelta

import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    missing: int = 2,
    also: int = 1,  # a second missing rank, or -1
    patience: float = 1.5,
    busy: float = 3.5,
) -> None:
    limit = timedelta(seconds=patience)
    os.environ["TORCH_DIST_INIT_BARRIER"] = "1"  # new_group waits for all
    checks = dist.new_group(backend="gloo")  # every rank makes every group
    if rank in (missing, also):
        time.sleep(busy)  # and then leaves without having come
        return
    try:
        dist.monitored_barrier(checks, limit, wait_all_ranks=True)
        print("everybody was here")
    except RuntimeError as error:
        print(str(error).splitlines()[0])


if __name__ == "__main__":
    main(worker, world_size=4)
