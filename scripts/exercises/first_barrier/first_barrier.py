"""Exercise: from processes to a process group, and one barrier.

Each rank makes its tensor, the higher ranks a little later, and then reports.
As it stands, the script crashes: nobody has made a process group.
Make the group, let no rank report before all have made their tensors, and leave the group at the end.
Environment variables tell each rank who it is: the backend's name, "gloo", is all that you need.
"""

import time

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, pause: float = 0.3) -> list:
    time.sleep(pause * rank)
    values = 10 * rank + torch.arange(3)
    print(f"made {values.tolist()}")
    print(f"reports as rank {dist.get_rank()} of {dist.get_world_size()}")
    return [values.tolist(), dist.is_initialized()]  # for the check: leave this line as it is


if __name__ == "__main__":
    main(worker, init=False)
