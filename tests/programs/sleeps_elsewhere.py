"""Rank 1 is busy elsewhere while rank 0 waits in a barrier for it."""

import time

import torch.distributed as dist


def save():
    time.sleep(1000)  # AWAY


dist.init_process_group("gloo")
dist.barrier()
if dist.get_rank() == 1:
    save()
dist.barrier()  # B
