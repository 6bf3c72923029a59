"""Exercise: in each epoch all ranks load what rank 0 has just saved.

Rank 0 saves an epoch over the one before, and all ranks load it; some ranks
are late.  As it stands, the script fails.  Mend it with barriers, so that each
rank returns the epochs that it has loaded: [1, 2, 3].
"""

import io
import os
import tempfile
import time
from pathlib import Path

import torch
import torch.distributed as dist

from barrier_lab import main


def save(state: dict, path: Path) -> None:
    """Take 0.3 s.  Leave this function as it is."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    data = buffer.getvalue()
    with path.open("wb") as file:
        file.write(data[:100])
        file.flush()
        time.sleep(0.3)
        file.write(data[100:])


def worker(
    rank: int,
    world_size: int,
    *,
    slow_rank: int = 1,
    folder: str = "",
) -> list[int]:
    mine = f"barrier_lab-{os.getpid()}-"  # a name by which the lab finds and removes it later
    names = [folder or (tempfile.mkdtemp(prefix=mine) if rank == 0 else "")]
    dist.broadcast_object_list(names)  # all ranks take the folder of rank 0
    path = Path(names[0]) / "model.pt"

    loaded = []
    for epoch in (1, 2, 3):
        dist.barrier()
        if rank == 0:
            save({"epoch": epoch}, path)
        if rank == slow_rank:
            time.sleep(0.5)  # leave this in
        loaded.append(torch.load(path)["epoch"])
    return loaded


if __name__ == "__main__":
    main(worker, world_size=4)
