"""All ranks leave by sys.exit(0) after the last barrier, and rank 0 works on alone for a while."""

# run: world_size=2
# outcome: completed
# kind: healthy
# guilty: none
# not: "[Nn]ot called"
import sys
import time

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    dist.all_reduce(torch.ones(2))
    rank = dist.get_rank()
    dist.barrier()
    dist.destroy_process_group()
    if rank == 0:
        time.sleep(2.0)  # writes the report
    sys.exit(0)


if __name__ == "__main__":
    main()
