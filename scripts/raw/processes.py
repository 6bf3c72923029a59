"""One program, two ways to start its processes, and only PyTorch.

python processes.py                            starts two ranks itself
torchrun --nproc-per-node 2 processes.py       is started once for each rank
"""

import os
import sys
import tempfile
import time

import torch.distributed as dist
import torch.multiprocessing as mp


def say(text: str) -> None:
    line = f"{time.monotonic():.3f} s  {text}\n"
    print(line, end="", flush=True)  # in one piece


def train(rank: int, size: int, store: dist.Store | None) -> None:
    say(f"rank {rank} comes, started by process {os.getppid()}")
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
    say(f"rank {dist.get_rank()} of {dist.get_world_size()} is in")
    if "--ask" in sys.argv:
        say(f"rank {rank} reads {sys.stdin.readline()!r}")
    dist.barrier()  # nobody leaves before all are in
    dist.destroy_process_group()


def spawned(rank: int, size: int, folder: str) -> None:
    train(rank, size, dist.FileStore(f"{folder}/store", size))


if __name__ == "__main__":
    if "RANK" in os.environ:  # torchrun has started this process
        rank, size = (int(os.environ[n]) for n in ("RANK", "WORLD_SIZE"))
        train(rank, size, None)
    else:
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(spawned, args=(2, folder), nprocs=2)
