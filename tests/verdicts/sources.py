"""Each rank believes that another one is the source of the broadcast (a rank within a node taken for a global one)."""

# run: world_size=3
# outcome: hung
# kind: mismatch
# lines: BC
# says: "(?i)\bsource\b|\bsrc\b|\broots?\b"
import torch
import torch.distributed as dist


def worker(rank, world_size):
    weights = torch.full((1 << 20,), float(rank))
    dist.broadcast(weights, src=(rank + 1) % world_size)  # BC
    dist.barrier()
