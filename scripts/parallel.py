"""Two workers: as two threads of one process, or as two processes.  Who can work at the same time?

Processes.  Of the threads of a process, one at a time runs Python: there is one interpreter lock.
Tensor operations let go of the lock while they compute.
"""

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.distributed as dist

from barrier_lab import main

MATRIX = torch.rand(400, 400)
STEPS = {
    "Python": lambda: sum(number * number for number in range(1000)),
    "tensors": lambda: MATRIX @ MATRIX,
}


def measure(step: Callable, threads: int, seconds: float = 0.2) -> dict:
    """Begin and end of each thread, and what all took from the CPU."""
    meet = threading.Barrier(threads)

    def work(_: int) -> tuple[float, float]:
        meet.wait()
        begin = time.monotonic()
        while time.monotonic() < begin + seconds:
            step()
        return begin, time.monotonic()

    cpu = time.process_time()
    with ThreadPoolExecutor(threads) as team:
        spans = list(team.map(work, range(threads)))
    return {"spans": spans, "cpu": time.process_time() - cpu}


def worker(rank: int, world_size: int, *, rounds=8, switch=0.005) -> dict:
    torch.set_num_threads(1)  # one core for each tensor operation
    sys.setswitchinterval(switch)
    taken = {}
    for name, step in list(STEPS.items()) * rounds:
        if rank == 0:  # alone, with a thread for each rank
            found = measure(step, threads=world_size)
            taken.setdefault(f"{name}, threads", []).append(found)
        dist.barrier()
        found = measure(step, threads=1)
        taken.setdefault(f"{name}, processes", []).append(found)
        dist.barrier()
    return taken


if __name__ == "__main__":
    main(worker)
