"""What does a barrier after loading each batch cost?

Rank 0 is slow in loading, rank 1 in computing.  Without the barrier both go
on at the same time, and they meet once a batch, in backward.  With it, the
one waits for the other, and then the other for the one.
"""

import time

import torch
import torch._dynamo  # DDP needs it; it takes seconds to load
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    batches: int = 4,
    pause: float = 0.25,
    barrier: bool = False,
) -> float:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(10, 2).to(device))
    for _ in range(batches):
        if rank == 0:
            time.sleep(pause)  # loads a batch
        batch = torch.randn(32, 10, device=device)
        if barrier:
            dist.barrier()
        if rank == 1:
            time.sleep(pause)  # computes
        loss = model(batch).square().mean()
        loss.backward()
    print(f"the last loss is {loss.item():.6f}")
    return loss.item()


if __name__ == "__main__":
    main(worker)
