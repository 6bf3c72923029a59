"""Exercise: let rank 0 go first.

Rank 0 prepares a data set, and every rank counts its rows.  As it stands, the others look before there is a file.
Write zero_first, with one barrier: the others run the block when rank 0 has run it.
With fails=True the preparation fails, and the job goes on without data.  Then nobody may be left waiting, either.
With 4 ranks, each returns 1000 rows, or 0 if the preparation failed, and the sum of all ranks' rows.
"""

import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import torch
import torch.distributed as dist

from barrier_lab import main


@contextlib.contextmanager
def zero_first(rank: int) -> Iterator[None]:
    """Rank 0 runs the block first; when it is done, the others run it."""
    yield  # the block runs here


def prepare(path: Path, fails: bool) -> None:
    """Take half a second.  Leave this function as it is."""
    time.sleep(0.5)
    if fails:
        raise OSError("no space left on the disk")
    path.write_text("row\n" * 1000)


def worker(rank: int, world_size: int, *, fails: bool = False, folder: str = "") -> list[int]:
    """Leave this function as it is."""
    names = [folder or (tempfile.mkdtemp() if rank == 0 else "")]
    dist.broadcast_object_list(names)  # all ranks take the folder of rank 0
    path, rows = Path(names[0]) / "data.txt", 0
    try:
        with zero_first(rank):
            if rank == 0:
                prepare(path, fails)
            rows = len(path.read_text().splitlines()) if path.exists() else 0
    except OSError as error:
        print(f"goes on without data: {error}")
    total = torch.tensor([rows], device="cuda" if dist.get_backend() == "nccl" else "cpu")
    dist.all_reduce(total)
    return [rows, int(total)]


if __name__ == "__main__":
    main(worker, world_size=4)
