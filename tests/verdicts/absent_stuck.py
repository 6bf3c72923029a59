"""One rank of three never comes, since it waits in its own process: for a lock, an event, a pipe, or a child."""

# run: world_size=3 how="lock"
# outcome: hung
# kind: absent-call
# guilty: 2
# lines: 2:LOCK 2:CALL 0:A 1:A
#
# run: world_size=3 how="pipe"
# outcome: hung
# kind: absent-call
# guilty: 2
# lines: 2:PIPE 0:A 1:A
#
# run: world_size=3 how="child"
# outcome: hung
# kind: absent-call
# guilty: 2
# lines: 2:CHILD 0:A 1:A
import os
import subprocess
import threading

import torch
import torch.distributed as dist


def next_batch(how):
    if how == "lock":
        lock = threading.Lock()
        with lock:
            lock.acquire()  # LOCK
    elif how == "pipe":
        os.read(os.pipe()[0], 1)  # PIPE
    else:
        subprocess.run(["sleep", "60"])  # CHILD


def worker(rank, world_size, *, how: str = "lock"):
    dist.barrier()
    if rank == 2:
        next_batch(how)  # CALL
    dist.all_reduce(torch.ones(2))  # A
