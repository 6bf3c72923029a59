"""All communication goes through one helper; only the callers tell the ranks apart."""

# run: world_size=3
# outcome: failed
# kind: several-files
# differ: 0:GRAD 1:METRIC
# says: "3rd"
#
# run: world_size=3 lost=True
# outcome: hung
# kind: several-files
# guilty: 2
# lines: 2:LOST 0:GRAD 1:GRAD
import os

import torch
from one_helper_comm import reduced


def worker(rank, world_size, *, lost: bool = False):
    for step in range(4):
        if lost and (rank, step) == (2, 2):
            os.read(os.pipe()[0], 1)  # LOST
        if lost or (rank, step) != (1, 1):
            reduced(torch.ones(2))  # GRAD
        reduced(torch.ones(2))  # METRIC
