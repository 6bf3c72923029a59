"""`new_group` is called by the members alone: the other rank is one group behind when all make the next one."""

# run: world_size=3
# outcome: hung
# kind: group
# differ: 0:NEW 2:NEXT
# lines: 0:NEXT 1:NEXT
# says: "new_group"
#
# run: world_size=3 forgotten=True
# outcome: hung
# kind: group
# guilty: 2
# also: 0 1
# lines: 0:NEXT 1:NEXT 2:B
# says: "new_group"
import torch
import torch.distributed as dist


def worker(rank, world_size, *, forgotten: bool = False):
    if forgotten and rank == 2:  # has left itself out of the list
        dist.new_group([0, 1])
        dist.barrier()  # B
    if rank < 2 and not forgotten:
        dist.new_group([0, 1])  # NEW
    everybody = dist.new_group([0, 1, 2])  # NEXT
    dist.all_reduce(torch.ones(1), group=everybody)
