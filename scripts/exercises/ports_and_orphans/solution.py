"""Two ranks and a port that is taken: they meet at a file.

The file store needs no port.  Its file must be new for each job, so the folder
must be one of its own.  Without a store, ``init_process_group("gloo")`` would be
right as well: then the ranks use the port that the launcher has opened.
"""

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, folder: str = "/tmp") -> int:
    store = dist.FileStore(f"{folder}/store", world_size)
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
