"""Exercise: nobody waits longer than needed.

All ranks read a file; slow_reader takes half a second for it.
Rank 0 replaces the file as soon as all have read it.  The others train.
As it stands, all is right but slow: rank 0 waits until all have trained.
Change worker: rank 0 replaces the file when the slowest reader has read it,
no rank waits before it trains, and a failed barrier is noticed on all ranks.
Each rank calls barrier once, and returns what it has read.
"""

import os
import tempfile
import time
from pathlib import Path

import torch.distributed as dist

from barrier_lab import main


def read(path: Path, seconds: float) -> str:
    time.sleep(seconds)
    return path.read_text()


def train() -> None:
    time.sleep(1.5)


def replace(path: Path) -> None:
    path.write_text("new")
    time.sleep(0.1)


def open_file(rank: int, folder: str) -> Path:
    """The same old file on all ranks.  Leave this function as it is."""
    mine = f"barrier_lab-{os.getpid()}-"  # a name by which the lab finds and removes it later
    names = [folder or (tempfile.mkdtemp(prefix=mine) if rank == 0 else "")]
    if rank == 0:
        Path(names[0], "data.txt").write_text("old")
    dist.broadcast_object_list(names)
    return Path(names[0], "data.txt")


def worker(rank: int, world_size: int, *, slow_reader: int = 3, folder: str = "") -> str:
    path = open_file(rank, folder)
    text = read(path, 0.5 if rank == slow_reader else 0.0)
    if rank != 0:
        train()
    dist.barrier()
    if rank == 0:
        replace(path)
    return text


if __name__ == "__main__":
    main(worker, world_size=4)
