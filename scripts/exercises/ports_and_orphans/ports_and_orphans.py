"""Two ranks want to meet, and the program fails as it starts.

Change how they meet, so that any number of such jobs can run at the same
time on one machine.  The check hands over a folder that is new for each
job, and that all ranks can reach.
"""

import os

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, folder: str = "/tmp") -> int:
    os.environ.pop("TORCHELASTIC_USE_AGENT_STORE")  # as without a launcher
    port = int(os.environ["MASTER_PORT"])
    host, listens = "127.0.0.1", rank == 0
    store = dist.TCPStore(host, port, world_size, listens)
    dist.init_process_group(
        "gloo",
        store=store,
        rank=rank,
        world_size=world_size,
    )

    total = torch.tensor(rank + 1)
    dist.all_reduce(total)
    dist.destroy_process_group()
    return int(total)


if __name__ == "__main__":
    main(worker, init=False)
