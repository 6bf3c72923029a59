"""Gradients are accumulated under no_sync, by all ranks alike."""

# run: world_size=2
# outcome: completed
# kind: healthy
# guilty: none
import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("gloo")
    model = DDP(nn.Linear(4, 1))
    for i in range(1, 9):
        with model.no_sync() if i % 4 else contextlib.nullcontext():
            model(torch.ones(2, 4)).sum().backward()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
