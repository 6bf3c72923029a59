"""The all_reduce of a backward that only some ranks make: under no_sync, or with a branch that is not used."""

# run: how="no_sync" deadline=6
# outcome: hung
# kind: hidden
# differ: 0:BACK 1:B
# lines: 0:BACK 1:B
#
# run: how="unused" deadline=6
# outcome: hung
# kind: hidden
# differ: 0:BACK 1:B
# lines: 0:BACK 1:B
import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Routed(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(4, 1), nn.Linear(4, 1)

    def forward(self, x, both):
        return self.left(x) + (self.right(x) if both else 0.0)


def worker(rank, world_size, *, how: str = "no_sync"):
    model = DistributedDataParallel(Routed())
    both = how == "no_sync" or rank == 0
    quiet = model.no_sync() if how == "no_sync" and rank == 1 else contextlib.nullcontext()
    with quiet:
        model(torch.ones(2, 4), both).sum().backward()  # BACK
    dist.barrier()  # B
