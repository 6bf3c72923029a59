"""Groups made by all ranks and used by their members, different numbers of times, in one order everywhere."""

# run: world_size=4
# outcome: completed
# kind: healthy
# guilty: none
# not: "[Nn]ot called" "differ"
import torch
import torch.distributed as dist


def worker(rank, world_size):
    rows = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    columns = [dist.new_group([0, 2]), dist.new_group([1, 3])]
    row, column = rows[rank // 2], columns[rank % 2]
    for _ in range(2 + rank // 2):
        dist.all_reduce(torch.ones(3), group=row)
    dist.all_reduce(torch.ones(3), group=column)
    dist.barrier()
