"""Uneven batches under `Join` end well; then rank 0 alone waits for the others before it saves its best model."""

# run: deadline=8
# outcome: hung
# kind: skipped-call
# lines: 0:BEST 1:NEXT
# differ: 0:BEST 1:NEXT
# not: "Join"
import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel


def validate(rank):
    dist.all_reduce(torch.ones(1))
    if rank == 0:
        dist.barrier()  # BEST


def worker(rank, world_size):
    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    with Join([model]):
        for batch in [torch.ones(2, 2)] * (3 + 2 * rank):
            model(batch).sum().backward()
    validate(rank)
    dist.all_reduce(torch.ones(4))  # NEXT
