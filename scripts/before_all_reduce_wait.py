"""Is wait() of an asynchronous all_reduce a barrier?

No.  It waits for the operation, not for the other ranks to come to their wait().
"""

import time

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    slow_rank: int = 1,
    delay: float = 2.0,
    barrier: bool = False,
) -> None:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    values = torch.full((3,), rank + 1, device=device)
    work = dist.all_reduce(values, async_op=True)  # started
    if rank == slow_rank:
        time.sleep(delay)  # other work, while the sum is made
    print("calls wait")
    work.wait()
    print(f"has the sum {values.tolist()}")
    if barrier:
        dist.barrier()
    print("goes on")


if __name__ == "__main__":
    main(worker)
