"""What do the others see when the block fails on rank 0?

Without finally the exception jumps over rank 0's barrier.  If rank 0 goes on, its later calls pair with the wrong ones.
"""

import contextlib
import time
from collections.abc import Iterator

import torch
import torch.distributed as dist

from barrier_lab import main
from zero_first import zero_first


@contextlib.contextmanager
def without_finally(rank: int) -> Iterator[None]:
    """Like zero_first, but without try and finally."""
    if rank == 0:
        yield
        dist.barrier()
    else:
        dist.barrier()
        yield


def worker(
    rank: int,
    world_size: int,
    *,
    use_finally: bool = True,
    caught: bool = False,
) -> None:
    try:
        with zero_first(rank) if use_finally else without_finally(rank):
            if rank == 0:
                time.sleep(1.0)
                raise OSError("no space left on the disk")
            print("has run the block")
    except OSError as error:
        if not caught:
            raise
        print(f"goes on without data: {error}")
    dist.barrier()
    print("starts training")
    number = torch.ones(1, device="cuda" if dist.get_backend() == "nccl" else "cpu")
    dist.all_reduce(number)
    print("has done a step")


if __name__ == "__main__":
    main(worker, world_size=4)
