"""What does a barrier do?

Each rank makes a tensor, the higher ranks a little later.
All meet at one barrier, then each reports.
No rank reports before every rank has made its tensor.
Without the barrier, the fast ones do.
"""

import os
import time

import torch
import torch.distributed as dist

from barrier_lab import main


def make_group() -> torch.device:
    """Join: NCCL if each rank of this machine can have a GPU, else gloo."""
    os.environ["TORCH_DIST_INIT_BARRIER"] = "1"  # all are in when it returns
    ranks_here = int(os.environ["LOCAL_WORLD_SIZE"])
    if dist.is_nccl_available() and torch.cuda.device_count() >= ranks_here:
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
        dist.init_process_group("nccl", device_id=device)
    else:
        device = torch.device("cpu")
        dist.init_process_group("gloo")
    return device


def worker(
    rank: int,
    world_size: int,
    *,
    pause: float = 0.5,
    barrier: bool = True,
) -> None:
    device = make_group()
    time.sleep(pause * rank)
    values = 10 * rank + torch.arange(3, device=device)
    print(f"made {values.tolist()}")
    if barrier:
        dist.barrier()
    print(f"reports as rank {dist.get_rank()} of {dist.get_world_size()}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(worker, init=False)
