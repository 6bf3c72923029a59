"""What happens if one rank has fewer batches than the others?

Backward of the others waits for it.  `Join` lets a rank that is through take
part in the collectives of the others; or the ranks agree on a number before.
"""

import contextlib
from typing import Literal

import torch
import torch._dynamo  # DDP needs it; it takes seconds to load
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    batches: int = 4,
    fewer: int = 2,  # how many the last rank has less
    cure: Literal["none", "join", "agree"] = "none",
    barrier: bool = True,  # at the end
) -> int:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(10, 2).to(device))
    mine = batches - fewer if rank == world_size - 1 else batches
    if cure == "agree":
        least = torch.tensor(mine, device=device)
        dist.all_reduce(least, dist.ReduceOp.MIN)
        mine = int(least)
    joined = Join([model]) if cure == "join" else contextlib.nullcontext()
    with joined:
        for number in range(1, mine + 1):
            loss = model(torch.randn(32, 10, device=device)).square().mean()
            loss.backward()
            print(f"batch {number}")
    if barrier:
        dist.barrier()
    return mine


if __name__ == "__main__":
    main(worker, world_size=3)
