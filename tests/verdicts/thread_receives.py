"""A background thread waits for commands by recv while the main thread is in barrier; the other rank is stuck."""

# run:
# outcome: hung
# kind: thread
# guilty: 1
# lines: 0:COMMAND 0:B 1:STUCK
# says: "recv from rank 1"
import os
import threading

import torch
import torch.distributed as dist


def commands():
    dist.recv(torch.empty(1), src=1, tag=99)  # COMMAND


def worker(rank, world_size):
    if rank == 0:
        threading.Thread(target=commands, name="commands", daemon=True).start()
    else:
        os.read(os.pipe()[0], 1)  # STUCK
    dist.barrier()  # B
