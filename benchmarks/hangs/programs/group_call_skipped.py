"""Within a group of two of three ranks one leaves out a call; the third rank only waits at the end."""

# run: world_size=3
# outcome: hung
# kind: group
# differ: 0:NORM 2:CLIP
# says: "ranks 0 and 2"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    shards = dist.new_group([0, 2])
    for step in range(3 if rank != 1 else 0):
        if (rank, step) != (2, 1):
            dist.all_reduce(torch.ones(2), group=shards)  # NORM
        dist.all_reduce(torch.ones(2), group=shards)  # CLIP
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
