"""The ranks have different numbers of batches, and DDP's Join lets those that are done keep the others company."""

# run:
# outcome: completed
# kind: healthy
# guilty: none
# not: "[Nn]ot called"
import torch
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel


def worker(rank, world_size):
    model = DistributedDataParallel(nn.Linear(4, 1))
    with Join([model]):
        for _ in range(5 - 2 * rank):
            model(torch.ones(2, 4)).sum().backward()
    return 5 - 2 * rank
