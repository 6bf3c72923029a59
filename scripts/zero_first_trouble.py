"""What do the others see when something goes wrong in the block that rank 0 runs first?

An exception jumps over rank 0's barrier, and its later calls pair with the wrong ones.  A collective stalls all.
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


def block(rank: int, trouble: str, number: torch.Tensor) -> None:
    """The preparation, with its trouble."""
    if trouble == "collective":
        dist.all_reduce(number)
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
    number = torch.ones(1, device="cuda" if dist.get_backend() == "nccl" else "cpu")
    try:
        with zero_first(rank) if use_finally else without_finally(rank):
            block(rank, trouble, number)
    except OSError as error:
        if trouble == "raises":
            raise
        print(f"goes on without the data set: {error}")
    dist.barrier()
    print("starts training")
    dist.all_reduce(number)
    print("has done a step")


if __name__ == "__main__":
    main(worker, world_size=4)
