"""Rank 0 looks at its loss after the first step, through the wrapped model: that forward rebuilds the buckets."""

# run: world_size=2
# outcome: hung
# kind: hidden
# differ: 0:LOOK 1:B
# says: "broadcast"
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("gloo")
    model = DDP(nn.Linear(8, 8))
    x = torch.randn(4, 8)
    model(x).mean().backward()
    if dist.get_rank() == 0:
        print("loss", model(x).mean().item())  # LOOK
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
