"""Exercise: keep only what the result needs.

Each rank trains with a setting of its own, and writes its score to a file.
At the end rank 0 reads all scores, and returns them; the others return None.
As it stands, the result is right, and the job takes far too long.
Change worker; leave the other functions as they are.
"""

import os
import tempfile
import time
from pathlib import Path

import torch.distributed as dist

from barrier_lab import main


def train(rank: int, step: int, world_size: int) -> None:
    """One step; each rank has its long one at another time."""
    time.sleep(0.5 if step % world_size == rank else 0.1)


def write_score(folder: Path, rank: int) -> None:
    time.sleep(0.1 * rank)
    Path(folder, f"{rank}.txt").write_text(str(10 * rank))


def read_scores(folder: Path, world_size: int) -> list[int]:
    names = [f"{rank}.txt" for rank in range(world_size)]
    return [int(Path(folder, name).read_text()) for name in names]


def same_folder(rank: int, folder: str) -> Path:
    mine = f"barrier_lab-{os.getpid()}-"  # a name by which the lab finds and removes it later
    names = [folder or (tempfile.mkdtemp(prefix=mine) if rank == 0 else "")]
    dist.broadcast_object_list(names)
    return Path(names[0])


def worker(rank: int, world_size: int, *, steps: int = 4, folder: str = "") -> list[int] | None:
    path = same_folder(rank, folder)
    scores = None
    dist.barrier()
    for step in range(steps):
        train(rank, step, world_size)
        dist.barrier()
    dist.barrier()
    write_score(path, rank)
    dist.barrier()
    if rank == 0:
        scores = read_scores(path, world_size)
    dist.barrier()
    return scores


if __name__ == "__main__":
    main(worker, world_size=4)
