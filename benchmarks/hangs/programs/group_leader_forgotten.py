"""Sums in two levels: the leader of the second pair does not take part in that of the leaders."""

# run: world_size=4
# outcome: hung
# kind: group
# guilty: 2
# also: 0 1 3
# lines: 0:LEADERS 2:END
# says: "ranks 0 and 2"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    pair, _ = dist.new_subgroups(group_size=2)
    leaders = dist.new_group([0, 2])
    gradient = torch.ones(8)
    dist.all_reduce(gradient, group=pair)
    if rank == 0:  # meant: the first rank of each pair
        dist.all_reduce(gradient, group=leaders)  # LEADERS
    dist.barrier()  # END
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
