"""Gradients are accumulated under no_sync, and the ranks do not agree on which backward is the last."""

# run: world_size=2
# outcome: hung
# kind: hidden
# differ: 0:BACK 1:B
# lines: 0:BACK 1:B
import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("gloo")
    model = DDP(nn.Linear(4, 1))
    batches = 4 if dist.get_rank() == 0 else 3
    for i in range(1, batches + 1):
        with model.no_sync() if i % 4 else contextlib.nullcontext():
            model(torch.ones(2, 4)).sum().backward()  # BACK
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
