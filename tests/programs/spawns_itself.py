"""A program that starts its own ranks by ``mp.spawn``; its argument says how long rank 1 is away."""

import sys
import time
from tempfile import TemporaryDirectory

import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed import barrier


def work(rank, folder, away):
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    barrier()
    if rank == 1:
        time.sleep(away)  # AWAY
    barrier()  # B
    told = " ".join(["done", *sys.argv[1:], sys.stdin.read() if rank == 0 and away == 0 else ""])
    print(f"{told}\n", end="")  # in one piece: another rank may print at the same moment
    dist.destroy_process_group()


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        mp.spawn(work, (folder, float(sys.argv[1])), nprocs=2)
