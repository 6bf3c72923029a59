"""In each step another rank is late."""

# run: world_size=3
# outcome: completed
# kind: slow
# guilty: none
import time

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    for step in range(6):
        if step % dist.get_world_size() == dist.get_rank():
            time.sleep(0.3)
        dist.all_reduce(torch.ones(4))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
