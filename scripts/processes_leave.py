"""May a rank leave the group as soon as init_process_group has returned?

Not on gloo: another rank may still be connecting, and fails when it finds this
one gone.  A rank that leaves must know that all are in.
"""

import os
import time
from typing import Literal

import torch.distributed as dist

from barrier_lab import main


class SlowStore(dist.Store):
    """Stands for a busy machine: this rank reads late where the others are."""

    def __init__(self, store: dist.Store, late: float) -> None:
        super().__init__()
        self.store, self.late = store, late

    def get(self, key):
        time.sleep(self.late)
        return self.store.get(key)

    def set(self, key, value):
        self.store.set(key, value)

    def add(self, key, number):
        return self.store.add(key, number)

    def wait(self, keys, *limit):
        self.store.wait(keys, *limit)


def worker(
    rank: int,
    world_size: int,
    *,
    meet: Literal["nowhere", "init", "barrier"] = "nowhere",
    late: float = 0.05,
) -> None:
    if meet == "init":  # init_process_group itself ends with a meeting at the store
        os.environ["TORCH_DIST_INIT_BARRIER"] = "1"
    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    store = dist.TCPStore(host, port, is_master=False)
    if rank == world_size - 1:
        store = SlowStore(store, late)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world_size)
    print("is in")
    if meet == "barrier":
        dist.barrier()
    dist.destroy_process_group()
    print("has left")


if __name__ == "__main__":
    main(worker, init=False, world_size=8)
