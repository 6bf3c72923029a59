"""Can a group be used again after one of its barriers timed out?

No.  The late rank finds the group broken as well, and every later barrier on
it fails at once.  Another group still works.
"""

import os
import time
from datetime import timedelta

import torch.distributed as dist

from barrier_lab import main


def attempt(what: str, group: dist.ProcessGroup | None = None) -> None:
    try:
        dist.barrier(group)
        print(f"{what}: passed")
    except RuntimeError as error:
        print(f"{what}: {str(error).split('] ', 1)[-1]}")


def worker(
    rank: int,
    world_size: int,
    *,
    patience: float = 1.0,
    late: float = 2.0,
    pause: float = 0.5,
) -> None:
    limit = timedelta(seconds=patience)
    os.environ["TORCH_DIST_INIT_BARRIER"] = "1"  # new_group waits for all
    impatient = dist.new_group(backend="gloo", timeout=limit)
    if rank == 1:
        time.sleep(late)
    attempt("first try", impatient)
    time.sleep(pause)
    attempt("second try", impatient)
    time.sleep(pause)
    attempt("default group")


if __name__ == "__main__":
    main(worker)
