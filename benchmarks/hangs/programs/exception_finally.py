"""One rank raises, and the clean-up in `finally` is itself collective."""

# run: world_size=2
# outcome: hung
# kind: exception
# differ: 0:A 1:B
# lines: 1:CAUSE 1:B 0:A
# says: "ZeroDivisionError"
import torch
import torch.distributed as dist


def train(rank):
    for step in range(4):
        tokens = 0 if (rank, step) == (1, 2) else 8
        loss = torch.tensor([8 / tokens])  # CAUSE
        dist.all_reduce(loss)  # A


def main():
    dist.init_process_group("gloo")
    try:
        train(dist.get_rank())
    finally:
        dist.barrier()  # B
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
