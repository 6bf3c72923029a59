"""Each rank stops when its own clock says that the time of the job is nearly over."""

# run: world_size=3
# outcome: hung
# kind: skipped-call
# differ: 0:STEP 1:END
# lines: 0:STEP 1:END
import time

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    skew = 0.4 if dist.get_rank() == 1 else 0.0  # this host's clock is ahead
    end = time.time() + 0.8
    while time.time() + skew < end:
        time.sleep(0.05)
        dist.all_reduce(torch.ones(2))  # STEP
    steps = [None] * dist.get_world_size()
    dist.all_gather_object(steps, "done")  # END
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
