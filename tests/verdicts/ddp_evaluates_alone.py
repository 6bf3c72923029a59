"""Rank 0 evaluates through the wrapped model: with buffers in eval, or once buckets are to be rebuilt."""

# run: how="buffers" deadline=6
# outcome: hung
# kind: hidden
# differ: 0:EVAL 1:B
# lines: 0:CALL
# says: "broadcast"
#
# run: how="rebuild" deadline=6 world_size=3
# outcome: hung
# kind: hidden
# differ: 0:EVAL 1:B
# says: "broadcast"
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def evaluate(model):
    return model(torch.randn(4, 8)).mean().item()  # EVAL


def worker(rank, world_size, *, how: str = "buffers"):
    norm = nn.BatchNorm1d(8) if how == "buffers" else nn.Identity()
    model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 8), norm))
    model(torch.randn(4, 8)).mean().backward()
    if rank == 0:
        model.eval()
        evaluate(model)  # CALL
    dist.barrier()  # B
