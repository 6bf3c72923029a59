"""A job on several nodes; the arguments say what happens to it: how many steps, and the timeout in seconds."""

import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist


def save():
    time.sleep(1000)  # AWAY


def main(steps, timeout, away):
    dist.init_process_group("gloo", timeout=timedelta(seconds=timeout))
    for _ in range(steps):
        dist.all_reduce(torch.ones(4))  # W
        time.sleep(0.1)
    if dist.get_rank() == away:
        save()
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
