"""What happens to a rank in a barrier that another rank never calls?

It depends on what the other rank does.  As long as rank 1 is alive, rank 0
waits, until the timeout of the group ends the wait with an error.  If rank 1
has exited or was killed, gloo tells rank 0 at once.
"""

import os
import signal
import time
from typing import Literal

import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    fast: float = 3.0,
    slow: float = 5.0,
    barrier: bool = True,  # False: nobody calls the second one
    peer: Literal["absent", "exits", "killed", "comes"] = "absent",
    busy: float = 3600.0,
) -> None:
    began = time.monotonic()
    time.sleep(slow if rank == 1 else fast)
    dist.barrier()
    print(f"first barrier after {time.monotonic() - began:.4f} s")
    if barrier and (rank != 1 or peer == "comes"):
        dist.barrier()
        print(f"second barrier after {time.monotonic() - began:.4f} s")
    elif rank == 1 and peer == "absent":
        time.sleep(busy)  # alive, but not here
    elif rank == 1 and peer == "killed":
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(worker)
