"""pytorch#141069 with DDP: the last backward of rank 0 meets the first all_reduce of the validation of rank 1."""

# run: width=1 deadline=6
# outcome: hung
# kind: skipped-call
# differ: 0:TRAIN 1:VAL
# not: "why it did not complete"
#
# run: width=8
# outcome: failed
# kind: skipped-call
# differ: 0:TRAIN 1:VAL

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def worker(rank, world_size, *, epochs: int = 2, width: int = 8):
    torch.manual_seed(rank)
    model = DDP(nn.Linear(width, width))
    for _ in range(epochs):
        for _ in range(5 - rank):
            model(torch.randn(2, width)).sum().backward()  # TRAIN
        for i in range(3):
            with torch.no_grad():
                loss = model.module(torch.randn(2, width)).sum()
            dist.all_reduce(loss)  # VAL
            print("validated", i, round(loss.item(), 2))
