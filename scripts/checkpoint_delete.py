"""May rank 0 delete the checkpoint when it has loaded it?

Not before the others have: a barrier between the loads and the delete.
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
    slow_rank: int = 1,
    delay: float = 1.0,
    folder: str = "",
) -> None:
    path = Path(folder or fresh_folder()) / "model.pt"
    if rank == 0:
        save({"epoch": 1}, path, 0.0)
    dist.barrier()
    if rank == slow_rank:
        time.sleep(delay)
    print(load(path))
    if barrier:
        dist.barrier()  # line A
    if rank == 0:
        path.unlink()
        print("has deleted it")


if __name__ == "__main__":
    main(worker)
