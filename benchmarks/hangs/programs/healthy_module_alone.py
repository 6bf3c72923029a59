"""Rank 0 evaluates the model itself, not the wrapper."""

# run: world_size=2
# outcome: completed
# kind: healthy
# guilty: none
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("gloo")
    model = DDP(nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)))
    model(torch.randn(4, 8)).mean().backward()
    if dist.get_rank() == 0:
        model.eval()
        print("loss", model.module(torch.randn(4, 8)).mean().item())
        model.train()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
