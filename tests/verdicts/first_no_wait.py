"""accelerate#1303: `main_process_first` that never waits, since the inner generator is not run."""

# run:
# outcome: completed
# kind: silence
# guilty: none
# says: "No rank called a collective"

import contextlib
import os
import tempfile
import time

import torch.distributed as dist


def goes_first(first):
    if not first:
        dist.barrier()
    yield
    if first:
        dist.barrier()


@contextlib.contextmanager
def main_process_first():
    goes_first(dist.get_rank() == 0)  # CAUSE: a generator made and dropped
    yield


def worker(rank, world_size):
    path = os.path.join(tempfile.gettempdir(), f"cache_{os.environ['MASTER_PORT']}")
    with main_process_first():
        had = os.path.exists(path)
        print("cache found" if had else "no cache: working")
        if not had:
            time.sleep(1.0)
            with open(path, "w") as file:
                file.write("x")
    if rank == 0:
        time.sleep(0.5)
        os.remove(path)
    return had
