"""Why does validation on rank 0 alone stall, and when does it not?

DistributedDataParallel calls collectives of its own in the forward pass, if
the model has buffers, and once more when it orders its gradients anew.  Rank 0
then calls one that the others do not call.  `unwrap` (model.module) avoids it.
"""

import time
from typing import Literal

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
    iterations: int = 4,
    pause: float = 0.5,
    validate: Literal["rank 0", "all ranks"] = "rank 0",
    buffers: bool = True,  # a model with BatchNorm, or without
    grad: bool = False,
    unwrap: bool = False,
    barrier: bool = True,
) -> None:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    torch.manual_seed(rank)  # each rank has its own data
    norm = nn.BatchNorm1d(4) if buffers else nn.Identity()
    net = nn.Sequential(nn.Linear(8, 4), norm, nn.Linear(4, 1)).to(device)
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(iterations):
        time.sleep(pause)  # loads a batch
        output = model(torch.randn(16, 8, device=device))
        output.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if barrier:
            dist.barrier()
    if rank == 0 or validate == "all ranks":
        tested = model.module if unwrap else model
        time.sleep(pause)  # loads the validation data
        with torch.set_grad_enabled(grad):
            output = tested(torch.randn(16, 8, device=device))
        print(f"validation loss {output.square().mean():.4f}")
    if barrier:
        dist.barrier()
    print("done")


if __name__ == "__main__":
    main(worker)
