"""Solution: join the group, meet once between making and reporting, leave the group.

The barrier must stand after the tensor is made: a barrier orders what stands before it and what stands after it.
"""

import time

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, pause: float = 0.3) -> list:
    dist.init_process_group("gloo")
    time.sleep(pause * rank)
    values = 10 * rank + torch.arange(3)
    print(f"made {values.tolist()}")
    dist.barrier()
    print(f"reports as rank {dist.get_rank()} of {dist.get_world_size()}")
    dist.destroy_process_group()
    return [values.tolist(), dist.is_initialized()]


if __name__ == "__main__":
    main(worker, init=False)
