"""`continue` on a batch that is not finite leaves out the rest of the step on one rank only (a common slip)."""

# run: after=False
# outcome: hung
# kind: skipped-call
# differ: 0:A 1:E
# lines: 0:A 1:E
#
# run: after=True
# outcome: hung
# kind: skipped-call
# differ: 0:M 1:L
# says: "6th"
import torch
import torch.distributed as dist


def worker(rank, world_size, *, after: bool = False):
    for step in range(4):
        batch = torch.full((2,), float("nan") if (rank, step) == (1, 2) else 1.0)
        if after:
            total = batch.sum()
            dist.all_reduce(total.nan_to_num())  # L
        if batch.isnan().any():
            continue
        if after:
            dist.all_reduce(batch)  # M
        else:
            dist.all_reduce(batch)  # A
    dist.barrier()  # E
