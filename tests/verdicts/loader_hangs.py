"""A worker process of one rank's DataLoader never returns its sample: the rank is in the loop over the loader."""

# run:
# outcome: hung
# kind: absent-call
# guilty: 1
# lines: 1:LOOP 0:A
import os

import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __init__(self, rank):
        self.rank = rank

    def __len__(self):
        return 6

    def __getitem__(self, i):
        if (self.rank, i) == (1, 3):
            os.read(os.pipe()[0], 1)
        return float(i)


def worker(rank, world_size):
    for batch in DataLoader(Samples(rank), num_workers=1, multiprocessing_context="fork"):  # LOOP
        dist.all_reduce(batch)  # A
