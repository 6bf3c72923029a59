"""A training script as most are: no worker, its own process group; rank 0 alone validates the wrapped model."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def evaluate(model):
    with torch.no_grad():
        return model(torch.randn(2, 8)).mean().item()  # E


def main():
    dist.init_process_group("gloo")
    model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 1)))
    for _ in range(2):
        for _ in range(3):
            model(torch.randn(4, 8)).mean().backward()
        if dist.get_rank() == 0:
            print("validated", evaluate(model))  # V
        dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
