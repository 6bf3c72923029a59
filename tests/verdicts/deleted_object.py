"""A logger synchronises when it is destroyed; one rank still holds it, and goes on to train."""

# run:
# outcome: hung
# kind: hidden
# differ: 0:A 1:DEL
# lines: 0:A 1:DEL
import torch
import torch.distributed as dist


class Logger:
    def __del__(self):
        dist.barrier()  # DEL


kept = []


def worker(rank, world_size):
    logger = Logger()
    dist.all_reduce(torch.ones(2))
    if rank == 0:
        kept.append(logger)
    del logger  # LAST
    dist.all_reduce(torch.ones(1))  # A
    kept.clear()
