"""Only its members make a group; the next one is made by all, and the counts differ."""

# run: world_size=3
# outcome: hung
# kind: group
# differ: 0:PAIR 2:ALL
# says: "new_group"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    if dist.get_rank() < 2:
        dist.new_group([0, 1])  # PAIR
    everybody = dist.new_group([0, 1, 2])  # ALL
    dist.all_reduce(torch.ones(1), group=everybody)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
