"""Two processes, one process group, one barrier, and only PyTorch."""

import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

WORLD_SIZE = 2
GPU_EACH = dist.is_nccl_available() and torch.cuda.device_count() >= WORLD_SIZE


def worker(rank: int, folder: str) -> None:
    device = torch.device("cuda", rank) if GPU_EACH else torch.device("cpu")
    if GPU_EACH:
        torch.cuda.set_device(device)
    dist.init_process_group(
        backend="nccl" if GPU_EACH else "gloo",
        store=dist.FileStore(f"{folder}/store", WORLD_SIZE),
        rank=rank,
        world_size=WORLD_SIZE,
        device_id=device if GPU_EACH else None,
    )

    time.sleep(0.5 * rank)
    values = 10 * rank + torch.arange(3, device=device)
    print(f"rank {rank} made {values.tolist()}", flush=True)
    dist.barrier()
    print(f"rank {rank} reports", flush=True)

    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(worker, args=(folder,), nprocs=WORLD_SIZE)
