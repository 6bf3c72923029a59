"""Exercise: let a rank with fewer batches finish in peace.

Each rank trains on its own batches; one rank has fewer.  As it stands, the
others fail.  Mend it, so that no batch is left out and all weights are
equal at the end.  Each rank returns how many batches it has trained on,
how many all ranks together have, and the sum of its weights.
"""

import torch
import torch._dynamo  # DDP needs it; it takes seconds to load
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from barrier_lab import main


def batches_of(rank: int, fewer_rank: int) -> int:
    """How many batches a rank has.  Leave this function as it is."""
    return 2 if rank == fewer_rank else 5


def worker(rank: int, world_size: int, *, fewer_rank: int = 1) -> tuple:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    torch.manual_seed(rank)
    model = DistributedDataParallel(torch.nn.Linear(10, 2).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    trained, total = 0, 0
    for _ in range(batches_of(rank, fewer_rank)):
        dist.barrier()  # all have loaded their batch
        loss = model(torch.randn(32, 10, device=device)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        trained += 1
        one = torch.tensor(1, device=device)
        dist.all_reduce(one)  # counts the batches of all ranks
        total += int(one)
    return trained, total, sum(p.sum().item() for p in model.parameters())


if __name__ == "__main__":
    main(worker, world_size=3)
