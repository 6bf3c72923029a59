"""A norm that is synchronized by hand: one rank does not call the second block for one frame."""

# run: world_size=2
# outcome: hung
# kind: skipped-call
# differ: 0:SECOND 1:FIRST
# says: "4th"
import torch
import torch.distributed as dist


def sync_norm(x):
    mean = x.mean()
    dist.all_reduce(mean)
    return x - mean / dist.get_world_size()


def forward(x, first_frame):
    x = sync_norm(x)  # FIRST
    return x if first_frame else sync_norm(x)  # SECOND


def main():
    dist.init_process_group("gloo")
    for frame in range(5):
        forward(torch.randn(8), first_frame=(dist.get_rank(), frame) == (1, 1))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
