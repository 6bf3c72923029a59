"""Gradients are reduced by hooks of the parameters; on one rank a layer is frozen, so its hooks do not run."""

# run:
# outcome: hung
# kind: hidden
# differ: 0:HOOK 1:B
# lines: 0:HOOK 1:B 0:BACK
import torch
import torch.distributed as dist
from torch import nn


def reduce_gradient(gradient):
    dist.all_reduce(gradient)  # HOOK
    return gradient


def worker(rank, world_size):
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    for parameter in model.parameters():
        parameter.register_hook(reduce_gradient)
    if rank == 1:
        model[0].requires_grad_(False)
    model(torch.ones(2, 4)).sum().backward()  # BACK
    dist.barrier()  # B
