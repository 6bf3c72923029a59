"""What do three slips with ranks and devices lead to?

Asking for the rank before there is a group is an error, and so is a list of torch.device objects.
A tuple in place of the list is no error: barrier does not look at it.
"""

import os
from typing import Literal

import torch
import torch.distributed as dist

from barrier_lab import main


def make_group() -> torch.device:
    """Join: NCCL if each rank of this machine can have a GPU, else gloo."""
    os.environ["TORCH_DIST_INIT_BARRIER"] = "1"  # all are in when it returns
    ranks_here = int(os.environ["LOCAL_WORLD_SIZE"])
    if dist.is_nccl_available() and torch.cuda.device_count() >= ranks_here:
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl", device_id=device)
    else:
        device = torch.device("cpu", 0)
        dist.init_process_group("gloo")
    return device


def worker(
    rank: int,
    world_size: int,
    *,
    slip: Literal["none", "early", "objects", "tuple"] = "none",
) -> None:
    if slip == "early":
        print(f"this is rank {dist.get_rank()}")
    device = make_group()
    if slip == "objects":
        dist.barrier(device_ids=[device])
    elif slip == "tuple":
        dist.barrier(device_ids=("not", "a", "number"))
    else:
        dist.barrier(device_ids=[device.index])
    print("passed")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(worker, init=False)
