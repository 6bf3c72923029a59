"""Only rank 0 wraps its model, for a quick check: the constructor is collective."""

# run: deadline=6 world_size=3
# outcome: hung
# kind: hidden
# differ: 0:WRAP 1:B
# lines: 0:WRAP 1:B 2:B
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def worker(rank, world_size):
    model = nn.Linear(8, 2)
    if rank == 0:
        model = DistributedDataParallel(model)  # WRAP
    dist.barrier()  # B
    return sum(p.numel() for p in model.parameters())
