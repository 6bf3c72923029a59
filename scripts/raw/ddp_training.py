"""One training step on each of several processes, and only PyTorch."""

import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel


def train(rank: int) -> None:
    torch.manual_seed(rank)
    model = DistributedDataParallel(torch.nn.Linear(10, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    batch, wanted = torch.randn(20, 10), torch.randn(20, 10)
    loss = torch.nn.functional.mse_loss(model(batch), wanted)
    loss.backward()
    optimizer.step()
    total = sum(p.sum().item() for p in model.parameters())
    line = f"rank {rank}: loss {loss:.4f}, sum of weights {total}\n"
    print(line, end="", flush=True)  # in one piece


def worker(rank: int, size: int, folder: str) -> None:
    store = dist.FileStore(f"{folder}/store", size)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size)
    train(rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    size = int(sys.argv[1]) if sys.argv[1:] else torch.cuda.device_count()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(worker, args=(size, folder), nprocs=size)
