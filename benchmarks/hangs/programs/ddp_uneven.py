"""Uneven batches without Join: the rank with more of them has an all_reduce in backward that nobody shares."""

# run: world_size=2
# outcome: hung
# kind: hidden
# differ: 0:TRAIN 1:B
# lines: 0:TRAIN 1:B
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("gloo")
    model = DDP(nn.Linear(4, 1))
    for _ in range(5 - dist.get_rank()):
        model(torch.ones(2, 4)).sum().backward()  # TRAIN
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
