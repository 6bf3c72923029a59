"""A reduction in two levels: the leader of the second pair does not take part in that of the leaders."""

# run: world_size=4 deadline=20
# outcome: failed
# kind: group
# says: "[Rr]ank 2 finished" "all_reduce on the group of ranks 2 and 3 once"
# lines: 0:LEADERS
import torch
import torch.distributed as dist


def worker(rank, world_size):
    local, _ = dist.new_subgroups(group_size=2)
    leaders = dist.new_group([0, 2])
    gradients = torch.ones(8)
    dist.all_reduce(gradients, group=local)
    if dist.get_rank(local) == 0 and rank != 2:
        dist.all_reduce(gradients, group=leaders)  # LEADERS
    dist.broadcast(gradients, src=rank // 2 * 2, group=local)
