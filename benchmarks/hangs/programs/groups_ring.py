"""Three groups of two: each rank begins with its right neighbour, so each waits in a group of its own."""

# run: world_size=3
# outcome: hung
# kind: cycle
# guilty: 0 1 2
# lines: 0:RIGHT 1:RIGHT 2:RIGHT
# says: "ranks 0 and 1" "ranks 1 and 2" "ranks 0 and 2"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    pairs = [dist.new_group(pair) for pair in ([0, 1], [1, 2], [0, 2])]
    halo = torch.ones(2)
    dist.all_reduce(halo, group=pairs[rank])  # RIGHT
    dist.all_reduce(halo, group=pairs[(rank - 1) % 3])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
