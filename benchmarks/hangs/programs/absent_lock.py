"""Rank 0 takes the lock of the cache and waits for the others with the lock in its hand."""

# run: world_size=2
# outcome: hung
# kind: absent-call
# guilty: 1
# lines: 1:LOCK 0:B
import fcntl

import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 1:
        dist.barrier()  # rank 0 fills the cache first
    with open(__file__) as cache:
        fcntl.flock(cache, fcntl.LOCK_EX)  # LOCK
        if rank == 0:
            dist.barrier()
            print("cache filled")
        dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
