"""An operation is started on one rank only and its handle dropped; the next collective then meets the wrong call."""

# run:
# outcome: hung
# kind: mismatch
# differ: 0:DROP 1:B
# lines: 0:B 1:B
import torch
import torch.distributed as dist


def worker(rank, world_size):
    seen = torch.ones(1)
    if rank == 0:
        dist.all_reduce(seen, async_op=True)  # DROP
    dist.barrier()  # B
    print("passed", seen.item())
