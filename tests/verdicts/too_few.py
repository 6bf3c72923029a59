"""A job made for three started with two, in the user's own rendezvous by file."""

# run: world_size=2
# outcome: hung
# kind: silence
# lines: 0:INIT 1:INIT
# says: "3 ranks" "2"
import os
import tempfile

import torch.distributed as dist

from barrier_lab import main


def worker(rank, world_size):
    path = os.path.join(tempfile.gettempdir(), f"rendezvous_{os.environ['MASTER_PORT']}")
    try:
        dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=3)  # INIT
        dist.barrier()
    finally:
        if os.path.exists(path):
            os.remove(path)


if __name__ == "__main__":
    main(worker, init=False)
