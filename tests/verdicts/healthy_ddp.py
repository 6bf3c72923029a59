"""A usual DDP loop: accumulation under no_sync on all ranks alike, evaluation on the module itself, a checkpoint."""

# run:
# outcome: completed
# kind: healthy
# guilty: none
# not: "differ" "paired" "[Nn]ot called"
import io

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def worker(rank, world_size):
    model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)))
    for step in range(4):
        if step % 2:
            model(torch.randn(8, 4)).square().mean().backward()
        else:
            with model.no_sync():
                model(torch.randn(8, 4)).square().mean().backward()
    if rank == 0:
        model.module.eval()(torch.randn(8, 4))
        torch.save(model.state_dict(), io.BytesIO())
    dist.barrier()
