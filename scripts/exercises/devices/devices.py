"""Exercise: find each rank its device, on one machine and on several.

The job runs on `nodes` machines with `gpus` GPUs each.
Both are imagined, so you need none: each rank only returns its plan,
backend and device, such as ["nccl", "cuda:0"].
Where a machine has no GPU for each of its ranks, the plan is ["gloo", "cpu"].
Mend the script.  With 4 ranks on 2 machines with 2 GPUs each, the plans name
cuda:0, cuda:1, cuda:0 and cuda:1.
Leave the line with CUDA_VISIBLE_DEVICES as it is.
"""

import os

import torch
import torch.distributed as dist

from barrier_lab import main


def plan(rank: int, world_size: int, nodes: int, gpus: int) -> list[str]:
    """Backend and device of one rank."""
    if gpus >= world_size:
        return ["nccl", f"cuda:{rank}"]
    return ["gloo", "cpu"]


def worker(
    rank: int,
    world_size: int,
    *,
    nodes: int = 2,
    gpus: int = 2,
) -> list[str]:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # hides real GPUs
    backend, name = plan(rank, world_size, nodes, gpus)
    device = torch.device(name)
    if device.type == "cuda":
        dist.barrier(device_ids=[device])
    else:
        dist.barrier()
    return [backend, name]


if __name__ == "__main__":
    main(worker, world_size=4)
