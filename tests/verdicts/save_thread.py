"""KempnerForge#104: a background thread saves with collectives on the group the main thread uses."""

# run:
# outcome: hung
# kind: thread
# differ: 0:T 1:B
# lines: 0:B

import threading
import time

import torch
import torch.distributed as dist


def plan_and_write(rank, delay):
    time.sleep(delay)
    plans = [None] * dist.get_world_size()
    dist.all_gather_object(plans, {"rank": rank})  # T


def worker(rank, world_size, *, rounds: int = 2):
    for _ in range(rounds):
        saver = threading.Thread(target=plan_and_write, args=(rank, 0.0 if rank == 0 else 0.6))
        saver.start()
        time.sleep(0.3)
        dist.barrier()  # B
        saver.join()  # J
        dist.all_reduce(torch.ones(1))
    print("saved")
