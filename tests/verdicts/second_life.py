"""The process group is destroyed and made again, as after a lost node; a rank misses a call in the second life."""

# run:
# outcome: hung
# kind: absent-call
# guilty: 1
# lines: 0:CALL 1:STUCK
# not: "[Ee]very rank had called"
#
# run: world_size=3 subgroup=True
# outcome: hung
# kind: absent-call
# guilty: 1
# lines: 0:B 1:STUCK 2:B
# not: "[Ee]very rank had called"
import os

import torch
import torch.distributed as dist


def reduce(rank, subgroup, steps):
    group = dist.new_group([0, 1]) if subgroup else None
    for _ in range(steps if rank < 2 or not subgroup else 0):
        dist.all_reduce(torch.ones(1), group=group)  # CALL


def worker(rank, world_size, *, subgroup: bool = False):
    first = dist.distributed_c10d._get_default_store()
    reduce(rank, subgroup, 3)
    dist.barrier()
    dist.destroy_process_group()
    second = dist.PrefixStore("second", first)  # its own keys: those of the first life are still there
    dist.init_process_group("gloo", store=second, rank=rank, world_size=world_size)
    reduce(rank, subgroup, 1)
    if rank == 1:
        os.read(os.pipe()[0], 1)  # STUCK
    reduce(rank, False, 1) if not subgroup else dist.barrier()  # B
