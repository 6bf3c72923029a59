"""Rows and columns of a grid of ranks, used different numbers of times."""

# run: world_size=4
# outcome: completed
# kind: healthy
# guilty: none
# not: "differ"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    rows = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    columns = [dist.new_group([0, 2]), dist.new_group([1, 3])]
    for _ in range(2 + rank // 2):
        dist.all_reduce(torch.ones(3), group=rows[rank // 2])
    dist.all_reduce(torch.ones(3), group=columns[rank % 2])
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
