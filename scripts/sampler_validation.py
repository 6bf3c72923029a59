"""Which accuracy comes out when ranks share the validation of a few samples?

With DistributedSampler's padding, some samples count twice; with its
drop_last, some do not count.  With a share for each rank and no padding, and
sums over all ranks, it is the accuracy that one process finds.
"""

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

from barrier_lab import main

WAYS = ("padded", "dropped", "own share")


def share(way: str, data: torch.Tensor, epoch: int) -> torch.Tensor:
    """The samples that this rank validates."""
    if way == "own share":
        return torch.arange(dist.get_rank(), len(data), dist.get_world_size())
    sampler = DistributedSampler(data, drop_last=way == "dropped")
    sampler.set_epoch(epoch)
    return torch.tensor(list(sampler))


def worker(
    rank: int,
    world_size: int,
    *,
    samples: int = 10,
    epochs: int = 4,
) -> dict[str, list[list[int]]]:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    torch.manual_seed(15)  # the same data and the same model on every rank
    data, labels = torch.randn(samples, 4), torch.randint(2, (samples,))
    right = torch.nn.Linear(4, 2)(data).argmax(1) == labels
    counted = {way: [] for way in WAYS}
    for epoch in range(epochs):
        for way in WAYS:
            mine = share(way, data, epoch)
            count = torch.tensor([right[mine].sum(), len(mine)], device=device)
            dist.all_reduce(count)
            counted[way].append(count.tolist())
    return counted


if __name__ == "__main__":
    main(worker, world_size=3)
