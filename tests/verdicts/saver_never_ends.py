"""The main thread joins a saver that waits for the disk; the others are at the next step."""

# run: world_size=3
# outcome: hung
# kind: absent-call
# guilty: 1
# lines: 1:JOIN 0:A 2:A
import os
import threading

import torch
import torch.distributed as dist


def save(rank):
    if rank == 1:
        os.read(os.pipe()[0], 1)


def worker(rank, world_size):
    saver = threading.Thread(target=save, args=(rank,), daemon=True)
    saver.start()
    dist.barrier()
    saver.join()  # JOIN
    dist.all_reduce(torch.ones(1))  # A
