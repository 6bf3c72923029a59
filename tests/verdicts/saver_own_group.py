"""The saver has a group of its own, and one rank's saver never comes; the main threads pass their own barrier."""

# run:
# outcome: hung
# kind: thread
# guilty: 1
# lines: 0:SAVE 1:DISK
import os
import threading

import torch
import torch.distributed as dist


def save(rank, group):
    if rank == 1:
        os.read(os.pipe()[0], 1)  # DISK
    dist.all_reduce(torch.ones(1), group=group)  # SAVE


def worker(rank, world_size):
    group = dist.new_group()
    saver = threading.Thread(target=save, args=(rank, group), name="saver")
    saver.start()
    dist.barrier()
    saver.join()  # JOIN
