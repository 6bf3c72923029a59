"""Solution: no hidden collective, and no learning, while rank 0 validates.

`model.module` is the model without the wrapper, so its forward pass calls no
collective.  In evaluation mode BatchNorm uses what it has learnt and learns
nothing.  Back to training mode, or the next epoch does not learn either.
"""

import torch
import torch._dynamo  # DDP loads it anyway: not within the run
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    epochs: int = 2,
    iterations: int = 3,
) -> dict[str, int]:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    torch.manual_seed(rank)  # each rank has its own data
    norm = nn.BatchNorm1d(8)
    net = nn.Sequential(norm, nn.Linear(8, 1)).to(device)
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for _ in range(epochs):
        for _ in range(iterations):
            output = model(torch.randn(16, 8, device=device))
            output.square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        if rank == 0:
            model.eval()
            with torch.no_grad():
                output = model.module(torch.randn(16, 8, device=device))
            losses.append(output.square().mean().item())
            model.train()
        dist.barrier()
    return {
        "validations": len(losses),
        "batches": int(norm.num_batches_tracked),
    }


if __name__ == "__main__":
    main(worker)
