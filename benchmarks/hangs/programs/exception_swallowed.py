"""The loop swallows the error of a bad sample and goes on: that rank has called one all_reduce less."""

# run: world_size=2
# outcome: hung
# kind: skipped-call
# differ: 0:A 1:B
# lines: 0:A 1:B
import torch
import torch.distributed as dist


def decode(rank, step):
    if (rank, step) == (1, 2):
        raise ValueError("truncated image")
    return torch.ones(2)


def main():
    dist.init_process_group("gloo")
    for step in range(5):
        try:
            dist.all_reduce(decode(dist.get_rank(), step))  # A
        except ValueError as error:
            print("skipped:", error)
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
