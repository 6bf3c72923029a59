"""Two of four ranks are missing, in two places: one loads data without end, one waits for a thread."""

# run: world_size=4
# outcome: hung
# kind: absent-call
# guilty: 1 3
# lines: 1:LOOP 3:JOIN 0:B 2:B
# not: 1:JOIN 3:LOOP
import threading
import time

import torch.distributed as dist


def poll():
    while True:
        time.sleep(0.05)  # LOOP


def worker(rank, world_size):
    if rank == 1:
        poll()
    if rank == 3:
        watcher = threading.Thread(target=threading.Event().wait, daemon=True)
        watcher.start()
        watcher.join()  # JOIN
    dist.barrier()  # B
