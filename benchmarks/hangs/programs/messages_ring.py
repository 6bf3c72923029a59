"""A ring of three in which everybody waits for its left neighbour first."""

# run: world_size=3
# outcome: hung
# kind: cycle
# guilty: 0 1 2
# lines: 0:R 1:R 2:R
# says: "recv"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    keys = torch.ones(16)
    for _ in range(size - 1):
        left = torch.empty(16)
        dist.recv(left, src=(rank - 1) % size)  # R
        dist.send(keys, dst=(rank + 1) % size)
        keys = left
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
