"""Work in a pool of threads fails on one rank; its result is asked for in a `with` that waits for the others first."""

# run:
# outcome: failed
# kind: exception
# guilty: 1
# lines: 1:CAUSE 0:A
# says: "FileNotFoundError: .*tokens_1.bin"
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.distributed as dist


def tokenize(rank, part):
    if (rank, part) == (1, 2):
        raise FileNotFoundError("tokens_1.bin")  # CAUSE
    return torch.ones(1)


def worker(rank, world_size):
    with ThreadPoolExecutor(2) as pool:
        parts = [pool.submit(tokenize, rank, part) for part in range(4)]
        for part in parts:
            dist.all_reduce(part.result())  # A
