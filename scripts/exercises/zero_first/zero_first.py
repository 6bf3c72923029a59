"""Exercise: let rank 0 go first, and tell the others if it failed.

As it stands, zero_first is the one of the lesson: with fails=True, the other ranks only find that there is no file.
Change zero_first, and nothing else.  If the block fails on rank 0, every other rank raises a RuntimeError that names
the cause, and does not run the block.  Rank 0 raises what it raised before.
Each rank returns the sum of all ranks' rows and its error: [4000, ""] with 4 ranks, or [0, "... no space left ..."].
"""

import contextlib
import os
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
    if rank == 0:
        try:
            yield  # the block runs here
        finally:
            dist.barrier()
    else:
        dist.barrier()
        yield  # the block runs here


def prepare(path: Path, fails: bool) -> None:
    """Take half a second."""
    time.sleep(0.5)
    if fails:
        raise OSError("no space left on the disk")
    path.write_text("row\n" * 1000)


def worker(rank: int, world_size: int, *, fails: bool = False, folder: str = "") -> list[int | str]:
    """Count the rows of all ranks, and say why there are none."""
    mine = f"barrier_lab-{os.getpid()}-"  # a name by which the lab finds and removes it later
    names = [folder or (tempfile.mkdtemp(prefix=mine) if rank == 0 else "")]
    dist.broadcast_object_list(names)  # all ranks take the folder of rank 0
    path, rows, cause = Path(names[0]) / "data.txt", 0, ""
    try:
        with zero_first(rank):
            if rank == 0:
                prepare(path, fails)
            rows = len(path.read_text().splitlines())
    except (OSError, RuntimeError) as error:
        cause = str(error)
        print(f"goes on without data: {cause}")
    total = torch.tensor([rows], device="cuda" if dist.get_backend() == "nccl" else "cpu")
    dist.all_reduce(total)
    return [int(total), cause]


if __name__ == "__main__":
    main(worker, world_size=4)
