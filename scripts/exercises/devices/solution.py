"""Solution: count what one machine has.

Both questions are about one machine: is there a GPU for each of *its* ranks,
and the how-many-eth of *its* ranks am I?  barrier wants that number.
"""

import os

import torch
import torch.distributed as dist

from barrier_lab import main


def plan(rank: int, world_size: int, nodes: int, gpus: int) -> list[str]:
    """Backend and device of one rank."""
    ranks_here = world_size // nodes
    if gpus >= ranks_here:
        return ["nccl", f"cuda:{rank % ranks_here}"]
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
        dist.barrier(device_ids=[device.index])
    else:
        dist.barrier()
    return [backend, name]


if __name__ == "__main__":
    main(worker, world_size=4)
