"""The ranks reduce by different operations: it ends, and the numbers are wrong."""

# run:
# outcome: completed
# kind: mismatch
# lines: A
# says: "(?i)\bsum\b" "(?i)\bmax\b"
import torch
import torch.distributed as dist


def worker(rank, world_size):
    best = torch.tensor([float(rank + 1)])
    op = dist.ReduceOp.MAX if rank == 0 else dist.ReduceOp.SUM
    dist.all_reduce(best, op=op)  # A
    print("best", best.item())
    dist.barrier()
