"""A clean-up registered with atexit is collective; one rank gets there by an error."""

# run: world_size=2
# outcome: hung
# kind: exception
# guilty: 1
# lines: 1:CAUSE 0:A
# says: "RuntimeError: cache is corrupt"
import atexit

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    atexit.register(dist.barrier)
    for step in range(4):
        if (dist.get_rank(), step) == (1, 2):
            raise RuntimeError("cache is corrupt")  # CAUSE
        dist.all_reduce(torch.ones(1))  # A


if __name__ == "__main__":
    main()
