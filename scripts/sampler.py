"""Who gets which sample, and how do the ranks agree on it?

They do not talk.  Each rank makes the same list of all samples, from the seed
and the epoch, and takes every world_size-th, beginning at its own number.
"""

from typing import Literal

import torch.distributed as dist
from torch.utils.data import BatchSampler, DistributedSampler

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    samples: int = 800,
    batch: int = 16,
    drop_last: bool = False,
    shuffle: bool = False,
    epochs: int = 1,
    forgets: Literal["nobody", "everybody", "rank 3"] = "nobody",
    barrier: bool = False,
) -> list[list[list[int]]]:
    data = range(samples)  # whatever has a length and can be indexed
    sampler = DistributedSampler(data, shuffle=shuffle)
    batches = BatchSampler(sampler, batch, drop_last)
    read = []
    for epoch in range(epochs):
        if barrier:
            dist.barrier()
        if forgets not in ("everybody", f"rank {rank}"):
            sampler.set_epoch(epoch)
        read.append([[data[i] for i in indices] for indices in batches])
        sizes = [len(indices) for indices in read[-1]]
        print(f"{sum(sizes)} samples, in batches of {sizes}")
    return read


if __name__ == "__main__":
    main(worker, world_size=8)
