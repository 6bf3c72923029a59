"""One rank's download fails twice and is tried again: it is late, and all is well."""

# run: world_size=3
# outcome: completed
# kind: slow
# guilty: none
# lines: 1:B
# not: "[Nn]ot called" "differ"
import time

import torch.distributed as dist


def download(rank, attempt):
    if rank == 1 and attempt < 2:
        raise ConnectionResetError("connection reset by the mirror")
    return b"data"


def worker(rank, world_size):
    for attempt in range(3):
        try:
            data = download(rank, attempt)
            break
        except ConnectionResetError:
            time.sleep(0.3)
    dist.barrier()  # B
    return len(data)
