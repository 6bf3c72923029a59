"""Does an all_reduce need a barrier before it?

No.  Each rank needs the values of all others for the sum, so all_reduce waits
for the slowest rank by itself: the same sum, at the same moment.
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
    barrier: bool = True,
    same_seed: bool = False,
) -> list[int]:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    torch.manual_seed(0 if same_seed else rank)
    if rank == slow_rank:
        time.sleep(delay)  # its data is slow to load
    values = torch.randint(10, (3,)).to(device)
    print(f"has {values.tolist()}")
    if barrier:
        dist.barrier()
    dist.all_reduce(values)  # adds up the tensors of all ranks
    print(f"sum {values.tolist()}")
    return values.tolist()


if __name__ == "__main__":
    main(worker)
