"""Every rank calls barrier once and all_reduce once, rank 0 in another order.
Do equal calls find each other?

No.  The first collective of one rank pairs with the first of the other,
whatever its kind: here a barrier meets an all_reduce.
"""

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, swapped: bool = True) -> None:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    total = torch.full((4,), rank + 1.0, device=device)
    if swapped and rank == 0:
        dist.barrier()
        dist.all_reduce(total)
    else:
        dist.all_reduce(total)
        dist.barrier()
    print(f"the sum is {total.tolist()}")


if __name__ == "__main__":
    main(worker)
