import os

import torch


def read(rank, i):
    if (rank, i) == (2, 4):
        os.read(os.pipe()[0], 1)  # SHARD: the reader that gets no answer
    return torch.rand(1)
