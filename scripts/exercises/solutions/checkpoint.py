"""Solution: one barrier after the save, one between the loads and the delete.

The first one says that the file is whole, the second one that nobody needs it
any more.
"""

import io
import tempfile
import time
from pathlib import Path

import torch
import torch.distributed as dist

from barrier_lab import main


def save(weights: torch.Tensor, path: Path) -> None:
    """Take 0.4 s."""
    buffer = io.BytesIO()
    torch.save(weights, buffer)
    data = buffer.getvalue()
    with path.open("wb") as file:
        file.write(data[:100])
        file.flush()
        time.sleep(0.4)
        file.write(data[100:])


def worker(rank: int, world_size: int, *, slow_rank: int = 1, folder: str = "") -> int:
    names = [folder or (tempfile.mkdtemp() if rank == 0 else "")]
    dist.broadcast_object_list(names)  # all ranks take the folder of rank 0
    path = Path(names[0]) / "weights.pt"

    if rank == 0:
        save(torch.arange(5), path)
    dist.barrier()  # saved
    if rank == slow_rank:
        time.sleep(0.3)
    weights = torch.load(path)
    dist.barrier()  # loaded by all
    if rank == 0:
        path.unlink()
    return int(weights.sum())


if __name__ == "__main__":
    main(worker, world_size=4)
