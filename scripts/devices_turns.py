"""All ranks use one device.  Does a barrier keep them from using it at the same time?

No.  It lets them all go at once, so it makes them use it at the same time.
It need not keep them apart: each rank has memory of its own on the device.
"""

import time

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    barrier: bool = True,
    pause: float = 1.5,
    work: float = 0.6,
) -> bool:
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    values = torch.zeros(1000, device=device)
    time.sleep(pause * rank)
    if barrier:
        dist.barrier()
    print(f"begins on {device}")
    steps, stop = 0, time.monotonic() + work
    while time.monotonic() < stop:
        values += 1
        steps += 1
    right = bool((values == steps).all())
    print(f"ends; every value is {steps}: {right}")
    return right


if __name__ == "__main__":
    main(worker)
