"""Uneven batches under Join, with a metric of the user's own: Join does not know that call."""

# run: world_size=2
# outcome: failed
# kind: skipped-call
# differ: 0:METRIC 1:JOIN
# lines: 0:METRIC
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("gloo")
    model = DDP(nn.Linear(4, 1))
    with Join([model]):  # JOIN
        for _ in range(5 - 2 * dist.get_rank()):
            loss = model(torch.ones(2, 4)).sum()
            loss.backward()
            dist.all_reduce(loss.detach())  # METRIC
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
