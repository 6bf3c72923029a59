"""Hundreds of steps are equal, then one rank skips the logging of one of them: the totals differ by one."""

# run: world_size=3
# outcome: hung
# kind: skipped-call
# differ: 0:LOG 1:STEP
# lines: 1:END
# says: "275th"
import torch
import torch.distributed as dist


def worker(rank, world_size):
    for step in range(1, 301):
        dist.all_reduce(torch.ones(1))  # STEP
        if step % 10 == 0 and (rank, step) != (1, 250):
            dist.all_reduce(torch.ones(1))  # LOG
    dist.barrier()  # END
