"""May each rank decide for itself when to stop training?

No.  The rank that stops first leaves the others in a collective without a
partner.  They must all decide the same, in the same epoch.
"""

import time

import torch
import torch.distributed as dist

from barrier_lab import main

BEST = [2, 1, 4, 3]  # after this epoch the loss of rank 0, 1, 2, 3 rises


def worker(
    rank: int,
    world_size: int,
    *,
    agree: str = "alone",
    epoch_time: float = 0.3,
) -> int:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    for epoch in range(1, 7):
        time.sleep(epoch_time)  # forward and backward
        gradient = torch.ones(4, device=device)
        dist.all_reduce(gradient)

        wants_to_stop = epoch > BEST[rank % len(BEST)]
        flag = torch.tensor([wants_to_stop], dtype=torch.int32, device=device)
        if agree == "barrier":
            dist.barrier()  # "now everybody knows"
        elif agree == "any":
            dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        elif agree == "all":
            dist.all_reduce(flag, op=dist.ReduceOp.MIN)
        elif agree == "rank 0":
            dist.broadcast(flag, src=0)
        if flag.item():
            break
    print(f"stops after epoch {epoch}")
    dist.barrier()  # all meet before rank 0 saves the model
    return epoch


if __name__ == "__main__":
    main(worker, world_size=4)
