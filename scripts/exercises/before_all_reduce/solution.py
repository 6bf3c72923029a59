"""Solution: add up the votes, so that every rank sees the same count.

The sum is the same on all ranks, so they decide the same, in the same epoch.
It also takes the place of the barrier: nobody has the sum before all voted.
"""

import time

import torch
import torch.distributed as dist

from barrier_lab import main

EPOCHS = 6


def wants_to_stop(rank: int, epoch: int, patience: int) -> bool:
    """Whether this rank's own loss has stopped falling."""
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
        votes = torch.tensor([int(stop)], device=device)
        dist.all_reduce(votes)
        if 2 * votes.item() > world_size:
            break
    return epoch


if __name__ == "__main__":
    main(worker, world_size=4)
