"""Rank 0 wraps what it sees of the end of rank 1 in an error of its own: still a consequence."""

# run:
# outcome: failed
# kind: exception
# guilty: 1
# also: 0
# lines: 1:CAUSE
# says: "(?s)[Rr]ank 1 .*AssertionError: loss is not finite.*[Rr]ank 0"
import torch
import torch.distributed as dist


class StepFailed(Exception):
    pass


def step(rank, number):
    assert (rank, number) != (1, 3), "loss is not finite"  # CAUSE
    try:
        dist.all_reduce(torch.ones(1))  # A
    except RuntimeError as error:
        raise StepFailed(f"step {number} could not be completed") from error


def worker(rank, world_size):
    for number in range(6):
        step(rank, number)
