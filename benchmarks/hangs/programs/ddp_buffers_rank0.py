"""Rank 0 validates through the wrapped model, whose BatchNorm has buffers: its forward broadcasts them."""

# run: world_size=2
# outcome: hung
# kind: hidden
# differ: 0:EVAL 1:B
# lines: 0:CALL
# says: "broadcast"
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def validate(model):
    model.eval()
    with torch.no_grad():
        return model(torch.randn(4, 8)).mean().item()  # EVAL


def main():
    dist.init_process_group("gloo")
    model = DDP(nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)))
    model(torch.randn(4, 8)).mean().backward()
    if dist.get_rank() == 0:
        validate(model)  # CALL
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
