"""A saver in a thread with a group of its own, on every rank, beside the training on the default group."""

# run:
# outcome: completed
# kind: healthy
# guilty: none
# not: "[Nn]ot called" "differ"
import threading
import time

import torch
import torch.distributed as dist


def save(rank, group):
    time.sleep(0.2 * rank)
    dist.all_reduce(torch.ones(1), group=group)


def worker(rank, world_size):
    group = dist.new_group()
    for _ in range(3):
        saver = threading.Thread(target=save, args=(rank, group))
        saver.start()
        for _ in range(5):
            dist.all_reduce(torch.ones(4))
        saver.join()
    dist.barrier()
