"""The thread that loads data dies of an error; its rank waits for the queue, and the others for the rank."""

# run:
# outcome: hung
# kind: exception
# guilty: 1
# lines: 1:GET 0:A
# says: "OSError: shard 3 is not readable"
import queue
import threading

import torch
import torch.distributed as dist


def load(rank, batches):
    for shard in range(5):
        if rank == 1 and shard == 3:
            raise OSError("shard 3 is not readable")
        batches.put(torch.ones(1))


def worker(rank, world_size):
    batches = queue.Queue()
    threading.Thread(target=load, args=(rank, batches), daemon=True).start()
    for _ in range(5):
        batch = batches.get()  # GET
        dist.all_reduce(batch)  # A
