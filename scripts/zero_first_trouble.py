"""What do the others see when something goes wrong in the block that rank 0 runs first?

Without try/finally an exception jumps over rank 0's barrier, and from then on its calls pair with the wrong ones.
A collective in the block pairs with the barrier in which the others wait, and nobody goes on.
"""

import contextlib
from collections.abc import Iterator
from typing import Literal

import torch
import torch.distributed as dist

from barrier_lab import main
from zero_first import zero_first


@contextlib.contextmanager
def without_finally(rank: int) -> Iterator[None]:
    """Like zero_first, but an exception in the block jumps over rank 0's barrier."""
    if rank == 0:
        yield
        dist.barrier()
    else:
        dist.barrier()
        yield


def block(rank: int, trouble: str) -> None:
    """The preparation, with its trouble."""
    if trouble == "collective":
        dist.all_reduce(torch.ones(1))
    elif rank == 0:
        raise OSError("no space left on the disk")
    print("has run the block")


def worker(
    rank: int,
    world_size: int,
    *,
    trouble: Literal["raises", "caught", "collective"] = "raises",
    use_finally: bool = False,
) -> None:
    try:
        with zero_first(rank) if use_finally else without_finally(rank):
            block(rank, trouble)
    except OSError as error:
        if trouble == "raises":
            raise
        print(f"goes on without the data set: {error}")
    dist.barrier()
    print("starts training")
    dist.all_reduce(torch.ones(1))
    print("has done a step")


if __name__ == "__main__":
    main(worker, world_size=4)
