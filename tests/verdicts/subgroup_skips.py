"""Within a group of two of the three ranks one leaves out a call; the third rank only waits at the end."""

# run: world_size=3
# outcome: hung
# kind: group
# differ: 0:NORM 2:CLIP
# lines: 1:END
# says: "ranks 0 and 2" "3rd"
import torch
import torch.distributed as dist


def total(x, group):
    dist.all_reduce(x, group=group)  # SUM
    return x


def worker(rank, world_size):
    group = dist.new_group([0, 2])
    for step in range(3 if rank != 1 else 0):
        if (rank, step) != (2, 1):
            total(torch.ones(2), group)  # NORM
        total(torch.ones(2), group)  # CLIP
    dist.barrier()  # END
