"""One rank has no data, says so, and returns from main."""

# run: world_size=2
# outcome: failed
# kind: early-exit
# guilty: 1
# lines: 0:A
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    files = [f"part-{i}" for i in range(rank, 3, 2)]
    if len(files) < 2:
        print(f"rank {rank}: not enough files")
        return
    for _ in files:
        dist.all_reduce(torch.ones(2))  # A
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
