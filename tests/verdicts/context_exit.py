"""A context manager synchronises when it is left; one rank leaves it by an exception."""

# run:
# outcome: hung
# kind: exception
# differ: 0:A 1:X
# lines: 1:CAUSE 1:X 0:A
# says: "ZeroDivisionError"
import torch
import torch.distributed as dist


class Phase:
    def __enter__(self):
        dist.barrier()

    def __exit__(self, *error):
        dist.barrier()  # X


def throughput(samples, seconds):
    return samples / seconds  # CAUSE


def worker(rank, world_size):
    with Phase():
        for step in range(3):
            rate = throughput(8.0, 1.0 if rank == 0 else 2.0 - step)
            dist.all_reduce(torch.tensor([rate]))  # A
