"""How do all ranks learn whether rank 0's preparation worked?

Rank 0 broadcasts the answer.  The others wait for it as they would at a barrier, and every rank raises the same cause.
"""

from collections.abc import Callable

import torch.distributed as dist

from barrier_lab import main


def on_rank_zero(prepare: Callable[[], None], rank: int) -> None:
    """Prepare on rank 0; if it fails, every rank raises the cause."""
    cause = [""]
    if rank == 0:
        try:
            prepare()
        except Exception as error:
            cause = [repr(error)]
    dist.broadcast_object_list(cause)  # in place of the barrier: it carries a value
    if cause[0]:
        raise RuntimeError(f"rank 0 failed: {cause[0]}")


def prepare() -> None:
    raise OSError("no space left on the disk")


def worker(rank: int, world_size: int) -> None:
    try:
        on_rank_zero(prepare, rank)
    except RuntimeError as error:
        print(error)


if __name__ == "__main__":
    main(worker, world_size=4)
