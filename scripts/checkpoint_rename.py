"""Can a rename take the place of the barrier after the save?

No.  With it nobody reads half a file, but a rank that comes too early reads
the old one.  The barrier says when the new one is there.
"""

import os
import time
from pathlib import Path

import torch.distributed as dist

from barrier_lab import main
from checkpoint import load, save
from shared_folder import fresh_folder


def save_whole(state: dict, path: Path, seconds: float) -> None:
    """Write under another name; rename the file when it is whole."""
    part = path.with_suffix(".part")
    save(state, part, seconds)
    os.replace(part, path)


def worker(
    rank: int,
    world_size: int,
    *,
    rename: bool = True,
    barrier: bool = True,
    delay: float = 1.0,
    folder: str = "",
) -> None:
    path = Path(folder or fresh_folder()) / "model.pt"
    if rank == 0:
        save({"epoch": 1}, path, 0.0)
    dist.barrier()  # from here on epoch 1 is there for all
    if rank == 0:
        (save_whole if rename else save)({"epoch": 2}, path, delay)
    if barrier:
        dist.barrier()
    if rank != 0:
        time.sleep(delay / 2)
        files = sorted(file.name for file in path.parent.iterdir())
        print(f"sees {' '.join(files)}, {load(path)}")


if __name__ == "__main__":
    main(worker)
