"""Exercise: every rank returns one prediction for each sample, in order.

The ranks share the samples, each predicts its part, and all_gather gives
every part to every rank.
As it stands, the list is too long, and its order is not that of the data.
Mend it.  The ranks shall still share the work.
"""

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

from barrier_lab import main


def predict(indices: torch.Tensor) -> torch.Tensor:
    """Stands for a model.  Leave this function as it is."""
    return 100 + indices


def worker(rank: int, world_size: int, *, samples: int = 10) -> list[int]:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    sampler = DistributedSampler(range(samples))
    mine = torch.tensor(list(sampler), device=device)
    predicted = predict(mine)
    parts = [torch.empty_like(predicted) for _ in range(world_size)]
    dist.all_gather(parts, predicted)
    return torch.cat(parts).tolist()


if __name__ == "__main__":
    main(worker, world_size=3)
