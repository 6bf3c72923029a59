"""Gradients are reduced by hooks of the parameters; on one rank a layer is frozen, so its hooks do not run."""

# run: world_size=2
# outcome: hung
# kind: hidden
# differ: 0:HOOK 1:B
# lines: 0:HOOK 1:B
import torch
import torch.distributed as dist
from torch import nn


def average(gradient):
    dist.all_reduce(gradient)  # HOOK
    return gradient / dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    for parameter in model.parameters():
        parameter.register_hook(average)
    if dist.get_rank() == 1:
        model[0].requires_grad_(False)
    model(torch.ones(2, 4)).sum().backward()
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
