"""Uneven batches under Join end well."""

# run: world_size=2
# outcome: completed
# kind: healthy
# guilty: none
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("gloo")
    model = DDP(nn.Linear(4, 1))
    with Join([model]):
        for _ in range(5 - 2 * dist.get_rank()):
            model(torch.ones(2, 4)).sum().backward()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
