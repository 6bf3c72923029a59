"""Who is in the job, and who waits for whom when the ranks come to init_process_group?

Each process learns its rank from its environment.  They come in any order.  On
gloo nobody leaves init_process_group before all have come, so no barrier is
needed after it to meet.  One is needed if rank 0 makes something that all use.
"""

import os
import time

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    slow_rank: int = 2,
    delay: float = 1.0,
    setup: float = 0.0,  # seconds that rank 0 takes to make a table
    barrier: bool = True,
) -> None:
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE")
    print(*(f"{name}={os.environ[name]}" for name in names))
    local_rank = int(os.environ["LOCAL_RANK"])
    on_this_node = int(os.environ["LOCAL_WORLD_SIZE"])
    gpus = torch.cuda.device_count() >= on_this_node
    device = "cuda" if gpus else "cpu"
    if gpus:
        torch.cuda.set_device(local_rank)

    if rank == slow_rank:
        time.sleep(delay)
    print("comes to init_process_group")
    dist.init_process_group("nccl" if gpus else "gloo")
    print("is in the group")
    if rank == 0:
        time.sleep(setup)
        print("has made the table")
    if barrier:
        dist.barrier()
    print("uses the table")
    # A rank that left now could break the start of another: the sum needs all.
    dist.all_reduce(torch.ones(1, device=device))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(worker, init=False, world_size=4)
