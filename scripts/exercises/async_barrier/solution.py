"""Solution: announce that you have read, then train, then wait.

Rank 0 has nothing else to do and waits at once.  The others wait when they
have trained: by then all have read, so it takes no time, and a barrier that
has failed raises there.
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
    """The same old file on all ranks."""
    mine = f"barrier_lab-{os.getpid()}-"  # a name by which the lab finds and removes it later
    names = [folder or (tempfile.mkdtemp(prefix=mine) if rank == 0 else "")]
    if rank == 0:
        Path(names[0], "data.txt").write_text("old")
    dist.broadcast_object_list(names)
    return Path(names[0], "data.txt")


def worker(rank: int, world_size: int, *, slow_reader: int = 3, folder: str = "") -> str:
    path = open_file(rank, folder)
    text = read(path, 0.5 if rank == slow_reader else 0.0)
    handle = dist.barrier(async_op=True)
    if rank != 0:
        train()
    handle.wait()
    if rank == 0:
        replace(path)
    return text


if __name__ == "__main__":
    main(worker, world_size=4)
