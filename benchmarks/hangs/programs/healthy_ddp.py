"""DDP with BatchNorm, evaluated by all ranks."""

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
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(5):
        optimizer.zero_grad()
        model(torch.randn(4, 8)).square().mean().backward()
        optimizer.step()
    model.eval()
    loss = model(torch.randn(4, 8)).square().mean().detach()
    dist.all_reduce(loss)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
