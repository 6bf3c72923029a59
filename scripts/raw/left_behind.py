"""A job that hangs, and whose ranks stay when its first process is killed.

python left_behind.py            meets at a free port, and says which
"""

import os
import signal
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank: int, port: int) -> None:
    signal.alarm(300)  # whatever happens, it is gone after five minutes
    meet = f"tcp://127.0.0.1:{port}"
    dist.init_process_group("gloo", meet, rank=rank, world_size=2)
    print(f"rank {rank} is process {os.getpid()}\n", end="", flush=True)
    if rank == 0:
        dist.barrier()
    else:
        dist.all_reduce(torch.ones(3))  # meets a barrier: both hang


if __name__ == "__main__":
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    print(f"the ranks meet at port {port}\n", end="", flush=True)
    mp.spawn(train, args=(port,), nprocs=2)
