"""The ranks meet at a key of the store, which the rank that should set it spells in another way."""

# run:
# outcome: hung
# kind: silence
# guilty: 1
# also: 0
# lines: 1:WAIT
from datetime import timedelta

import torch.distributed as dist


def worker(rank, world_size):
    store = dist.distributed_c10d._get_default_store()
    if rank == 0:
        store.set("dataset-ready", "1")
        return
    store.wait(["dataset_ready"], timedelta(seconds=60))  # WAIT
    dist.barrier()
