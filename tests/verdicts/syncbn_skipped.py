"""pytorch#44957: one process does not call a module that has a synchronised norm."""

# run:
# outcome: hung
# kind: skipped-call
# differ: 0:MB 1:MA
# says: "4th"

import torch
import torch.distributed as dist
from torch import nn


class SyncNorm(nn.Module):
    def forward(self, x):
        stats = torch.stack([x.mean(), x.square().mean()])
        dist.all_reduce(stats)  # N
        stats /= dist.get_world_size()
        return (x - stats[0]) / (stats[1] - stats[0] ** 2 + 1e-5).sqrt()


class Video(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(8, 8), SyncNorm())
        self.b = nn.Sequential(nn.Linear(8, 8), SyncNorm())

    def forward(self, x, first_frame):
        y = self.a(x)  # MA
        if first_frame:
            return y
        return self.b(y)  # MB


def worker(rank, world_size, *, frames: int = 5):
    torch.manual_seed(rank)
    model = Video()
    start = 3 if rank == 1 else 0  # rank 1 is in another place of its video
    for step in range(frames):
        model(torch.randn(4, 8), first_frame=start > 0 and (start + step) % 4 == 0)  # CALL
        print("step", step)
    dist.barrier()  # B
