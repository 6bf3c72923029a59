"""What does the call itself cost, if nobody is late?

On gloo, some tenths of a millisecond for a few ranks, and more for more:
log2(n) rounds of messages, rounded up.
"""

import time

import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    rounds: int = 6,
    calls: int = 40,
    barrier: bool = True,
) -> dict[int, list[float]]:
    sizes = [size for size in (2, 4, 8) if size <= world_size]
    groups = {size: dist.new_group(list(range(size))) for size in sizes}
    took: dict[int, list[float]] = {size: [] for size in sizes}
    for _ in range(rounds):
        for size, group in groups.items():
            dist.barrier()  # the others wait here while the group measures
            for call in range(calls if rank < size else 0):
                began = time.perf_counter()
                if barrier:
                    dist.barrier(group)
                if call >= 5:  # until then the ranks get into step
                    took[size].append(time.perf_counter() - began)
    return took


if __name__ == "__main__":
    main(worker, world_size=8)
