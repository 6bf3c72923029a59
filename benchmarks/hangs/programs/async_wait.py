"""A step reduces in the background; one rank is stuck before it starts its own operation."""

# run: world_size=3
# outcome: hung
# kind: in-flight
# guilty: 0
# lines: 0:READ 1:WAIT 2:WAIT
# says: "3rd all_reduce"
import os

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    for step in range(4):
        if (dist.get_rank(), step) == (0, 2):
            os.read(os.pipe()[0], 1)  # READ
        work = dist.all_reduce(torch.ones(8), async_op=True)
        torch.randn(16, 16).sum()
        work.wait()  # WAIT
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
