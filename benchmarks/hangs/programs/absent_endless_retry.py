"""One rank retries a batch that it can never use, and does not come to the gradient again."""

# run: world_size=3
# outcome: hung
# kind: absent-call
# guilty: 2
# lines: 2:SAMPLE 0:A 1:A
import time

import torch
import torch.distributed as dist


def sample(rank, step):
    while True:
        batch = torch.rand(8) * (0 if (rank, step) == (2, 3) else 1)
        if batch.sum() > 0:
            return batch
        time.sleep(0.05)  # SAMPLE


def main():
    dist.init_process_group("gloo")
    for step in range(6):
        gradient = sample(dist.get_rank(), step)
        dist.all_reduce(gradient)  # A
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
