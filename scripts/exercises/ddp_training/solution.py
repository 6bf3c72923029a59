"""Solution: Join stands in for the rank that is through, for DDP's collectives only.

So the loop must hold no other collective: the barrier was not needed, and the
count is added up once, after the loop.
"""

import torch
import torch._dynamo  # DDP needs it; it takes seconds to load
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

from barrier_lab import main


def batches_of(rank: int, fewer_rank: int) -> int:
    """How many batches a rank has."""
    return 2 if rank == fewer_rank else 5


def worker(rank: int, world_size: int, *, fewer_rank: int = 1) -> tuple:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    torch.manual_seed(rank)
    model = DistributedDataParallel(torch.nn.Linear(10, 2).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    trained = 0
    with Join([model]):
        for _ in range(batches_of(rank, fewer_rank)):
            loss = model(torch.randn(32, 10, device=device)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            trained += 1
    total = torch.tensor(trained, device=device)
    dist.all_reduce(total)
    return trained, int(total), sum(p.sum().item() for p in model.parameters())


if __name__ == "__main__":
    main(worker, world_size=3)
