"""Does a barrier keep the ranks from writing one file at the same time?

No.  It brings them to the save at the same moment.  What keeps them apart is
that only one of them saves.
"""

import time
from pathlib import Path

import torch.distributed as dist

from barrier_lab import main
from checkpoint import load, save
from shared_folder import fresh_folder


def worker(
    rank: int,
    world_size: int,
    *,
    barrier: bool = True,
    only_rank_0: bool = False,
    delay: float = 0.4,
    folder: str = "",
) -> None:
    path = Path(folder or fresh_folder()) / "model.pt"
    time.sleep(3 * delay * rank)  # not all are done at the same time
    if barrier:
        dist.barrier()
    if rank == 0 or not only_rank_0:
        print("begins to save")
        save({"epoch": 1, "rank": rank}, path, delay)
        print("has saved")
    dist.barrier()
    print(load(path))


if __name__ == "__main__":
    main(worker, world_size=4)
