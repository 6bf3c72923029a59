"""Does validation through model.module leave the model as it was?

Not in training mode: BatchNorm puts the validation data into its running
statistics, and the next training forward gives those to all ranks.
"""

import torch
import torch._dynamo  # DDP loads it anyway: not within the run
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from barrier_lab import main


def worker(rank: int, world_size: int, *, evaluate: bool = False) -> None:
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    torch.manual_seed(rank)  # each rank has its own data
    norm = nn.BatchNorm1d(1)
    net = nn.Sequential(norm, nn.Linear(1, 1)).to(device)
    model = DistributedDataParallel(net)

    def train() -> None:
        model(torch.randn(64, 1, device=device)).sum().backward()

    def show(when: str) -> None:
        print(f"{when}: running mean {round(norm.running_mean.item())}")

    train()
    show("after training")
    if rank == 0:
        if evaluate:
            model.eval()
        with torch.no_grad():
            model.module(100 + torch.randn(64, 1, device=device))
        model.train()
    show("after validation")
    train()
    show("after training again")


if __name__ == "__main__":
    main(worker)
