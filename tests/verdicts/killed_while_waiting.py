"""A watchdog thread kills its own rank while the rank waits for the others, one of which is stuck."""

# run: world_size=3
# outcome: failed
# kind: killed
# guilty: 1
# also: 2
# lines: 1:B
# says: "SIGKILL"
import os
import signal
import threading
import time

import torch.distributed as dist


def watchdog():
    time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGKILL)


def worker(rank, world_size):
    dist.barrier()
    if rank == 1:
        threading.Thread(target=watchdog, daemon=True).start()
    if rank == 2:
        os.read(os.pipe()[0], 1)
    dist.barrier()  # B
