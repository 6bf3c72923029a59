"""Rank 0 fills the cache while the others wait, then they read it."""

# run: world_size=3
# outcome: completed
# kind: slow
# guilty: none
import contextlib
import time

import torch.distributed as dist


@contextlib.contextmanager
def main_process_first(rank):
    if rank != 0:
        dist.barrier()
    yield
    if rank == 0:
        dist.barrier()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    with main_process_first(rank):
        time.sleep(2.0 if rank == 0 else 0.1)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
