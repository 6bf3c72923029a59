"""One rank ends by sys.exit(0) once its samples are used up, in the middle of an epoch."""

# run: world_size=3
# outcome: failed
# kind: early-exit
# guilty: 1
# lines: 1:EXIT 0:A
import sys

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    samples = 3 if dist.get_rank() == 1 else 5
    for step in range(5):
        if step >= samples:
            sys.exit(0)  # EXIT
        dist.all_reduce(torch.ones(2))  # A
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
