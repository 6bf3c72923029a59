"""Which number names a rank's device?

The local rank.  A machine counts its devices from 0, and so it does its ranks.
The global rank is the same number on the first machine only.
Here each rank makes a tensor on its device, and all meet at a barrier.
"""

import os
import time
from typing import Literal

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    number: Literal["local", "global"] = "local",
    pause: float = 0.5,
    barrier: bool = True,
) -> None:
    local_rank = int(os.environ["LOCAL_RANK"])
    index = local_rank if number == "local" else rank
    on_gpu = dist.get_backend() == "nccl"
    device = torch.device("cuda", index) if on_gpu else torch.device("cpu")
    time.sleep(pause * rank)
    values = rank + torch.arange(3, device=device)
    numbers = f"local rank {local_rank}, index {index}"
    print(f"{numbers}: {values.tolist()} on {device}")
    if barrier:
        dist.barrier(device_ids=[index] if on_gpu else None)
    print("goes on")


if __name__ == "__main__":
    main(worker, world_size=4)
