"""The system kills one rank for lack of memory."""

# run: world_size=3
# outcome: failed
# kind: killed
# guilty: 1
# lines: 0:A 2:A
# says: "SIGKILL"
import os
import signal

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    for step in range(4):
        if (dist.get_rank(), step) == (1, 2):
            os.kill(os.getpid(), signal.SIGKILL)
        dist.all_reduce(torch.ones(2))  # A
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
