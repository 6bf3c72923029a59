"""What do the ranks see when the port at which they want to meet is taken?

Rank 0, which opens it, fails at once: address already in use.  The others reach
whoever listens there, and wait for ranks that never come.  A file needs no port;
a port that the launcher has opened need not be opened again.
"""

import os
from datetime import timedelta

import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    port: int = 0,  # 0: the port at which the launcher listens
    opens: bool = True,  # rank 0 opens the port
    folder: str = "",  # meet at a file in this folder, and at no port
    patience: float = 3.0,
) -> None:
    limit = timedelta(seconds=patience)
    if opens:  # as in a program that no launcher has started
        os.environ.pop("TORCHELASTIC_USE_AGENT_STORE", None)
    port = port or int(os.environ["MASTER_PORT"])
    if folder:
        store = dist.FileStore(f"{folder}/store", world_size)
    else:
        host, listens = "127.0.0.1", opens and rank == 0
        store = dist.TCPStore(host, port, world_size, listens, limit)
        print("has a store")
    dist.init_process_group(
        "gloo",
        store=store,
        rank=rank,
        world_size=world_size,
        timeout=limit,
    )
    dist.barrier()
    print("has met the others")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(worker, init=False)
