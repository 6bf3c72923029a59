"""Two processes, one process group, one barrier, and nothing but PyTorch: python first_barrier.py"""

import tempfile
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

WORLD_SIZE = 2


def worker(rank: int, world_size: int, meeting_point: str) -> None:
    store = dist.FileStore(meeting_point, world_size)
    if dist.is_nccl_available() and torch.cuda.device_count() >= world_size:
        device = torch.device("cuda", rank)
        torch.cuda.set_device(device)
        dist.init_process_group("nccl", store=store, rank=rank, world_size=world_size, device_id=device)
    else:
        device = torch.device("cpu")
        dist.init_process_group("gloo", store=store, rank=rank, world_size=world_size)

    time.sleep(0.5 * rank)
    values = 10 * rank + torch.arange(3, device=device)
    print(f"rank {rank} of {world_size} made {values.tolist()}", flush=True)
    dist.barrier()
    print(f"rank {rank} has passed the barrier", flush=True)

    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(worker, args=(WORLD_SIZE, str(Path(folder, "meeting_point"))), nprocs=WORLD_SIZE)
