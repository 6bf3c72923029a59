"""Exercise: let the majority decide when to stop.

After each epoch every rank says whether it wants to stop.  Training shall end
after the first epoch in which more than half of the ranks want that, or after
the last epoch.  As it stands, a barrier is meant to tell the others, and the
script fails.  Mend it, so that each rank returns the same number of epochs.
No barrier is needed.
"""

import time

import torch
import torch.distributed as dist

from barrier_lab import main

EPOCHS = 6


def wants_to_stop(rank: int, epoch: int, patience: int) -> bool:
    """Leave this function as it is."""
    return epoch >= patience + rank


def worker(rank: int, world_size: int, *, patience: int = 2) -> int:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    epoch = 0
    while epoch < EPOCHS:
        epoch += 1
        time.sleep(0.05)  # forward and backward
        gradient = torch.ones(4, device=device)
        dist.all_reduce(gradient)
        stop = wants_to_stop(rank, epoch, patience)
        dist.barrier()
        if stop:
            break
    return epoch


if __name__ == "__main__":
    main(worker, world_size=4)
