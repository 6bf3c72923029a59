"""How do the others learn that rank 0 wants to stop?

Not through a barrier, which carries no value.  A broadcast carries the flag of
one rank, an all_reduce joins the flags of all.
"""

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, how: str = "barrier") -> bool:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    flag = torch.tensor([rank == 0], dtype=torch.int32, device=device)
    if how == "barrier":
        dist.barrier()
    elif how == "broadcast":
        dist.broadcast(flag, src=0)
    elif how == "all_reduce":
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
    stop = bool(flag.item())
    print(f"stop is {stop}")
    return stop


if __name__ == "__main__":
    main(worker)
