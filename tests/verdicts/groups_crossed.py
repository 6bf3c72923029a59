"""Groups of two used in another order by each rank: each waits in the group that the next has not reached."""

# run: world_size=2
# outcome: hung
# kind: cycle
# lines: 0:FIRST 1:FIRST
# says: "group"
#
# run: world_size=3
# outcome: hung
# kind: cycle
# lines: 0:FIRST 1:FIRST 2:FIRST
# says: "ranks 0 and 1" "ranks 1 and 2" "ranks 0 and 2"
import torch
import torch.distributed as dist


def worker(rank, world_size):
    pairs = [(i, (i + 1) % world_size) for i in range(world_size)]
    groups = [dist.new_group(sorted(pair)) for pair in pairs]  # of ranks 0 and 1, 1 and 2, 0 and 2
    x = torch.ones(2)
    dist.all_reduce(x, group=groups[rank])  # FIRST
    dist.all_reduce(x, group=groups[(rank - 1) % world_size])
