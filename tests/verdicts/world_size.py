"""pytorch#52848: init_process_group hangs: world size 4, two processes."""

# run:
# outcome: hung
# kind: silence
# lines: I
# says: "4 ranks" "2" "gloo"
# not: "None because"

import os

import torch.distributed as dist

from barrier_lab import main


def worker(rank, world_size, *, said: int = 4):
    dist.init_process_group("gloo", rank=int(os.environ["RANK"]), world_size=said)  # I
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(worker, init=False)
