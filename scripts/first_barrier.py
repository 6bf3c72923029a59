"""What does a barrier do?

Each rank makes a tensor of its own, all ranks meet at one barrier, then each reports.  No rank reports before all have met.
"""

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int) -> None:
    dist.init_process_group("gloo")
    values = torch.arange(3) + 10 * rank
    print(f"rank {rank} of {world_size} made {values.tolist()}")
    dist.barrier()
    print(f"rank {rank} has passed the barrier")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(worker, init=False)
