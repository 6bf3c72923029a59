"""A rank synchronizes on a group that it is not in: that does nothing, and it misses the right barrier."""

# run: world_size=3
# outcome: hung
# kind: absent-call
# guilty: 2
# lines: 2:POLL 0:B 1:B
import time

import torch.distributed as dist


def wait_for_checkpoint(found=False):
    while not found:
        time.sleep(0.2)  # POLL


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    writers = dist.new_group([0, 1])
    dist.barrier(group=writers if rank == 2 else None)  # B
    if rank == 2:
        wait_for_checkpoint()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
