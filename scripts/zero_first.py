"""How is a data set prepared once, and read whole by every rank?

Rank 0 prepares it while the others wait at a barrier, and comes there when it is whole.
"""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import torch.distributed as dist

from barrier_lab import main
from shared_folder import fresh_folder

HALF = "row\n" * 500


@contextlib.contextmanager
def zero_first(rank: int) -> Iterator[None]:
    """Decide when this rank runs the block."""
    if rank == 0:
        try:
            yield  # the block runs here
        finally:  # also when the block fails
            dist.barrier()
    else:
        dist.barrier()
        yield  # the block runs here


def prepare(path: Path) -> None:
    """Take two seconds: first there is no file, then half of it, then all."""
    for _ in range(2):
        time.sleep(1.0)
        with path.open("a") as file:  # "a" appends: what is in the file stays
            file.write(HALF)


def worker(rank: int, world_size: int, *, barrier: bool = True, late: float = 0.0, folder: str = "") -> None:
    path = Path(folder or fresh_folder()) / "data.txt"
    if rank != 0:
        time.sleep(late)
    with zero_first(rank) if barrier else contextlib.nullcontext():
        if not path.exists():
            print("prepares the data set")
            prepare(path)
    print(f"reads {len(path.read_text().splitlines())} rows")


if __name__ == "__main__":
    main(worker, world_size=4)
