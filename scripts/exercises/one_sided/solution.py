"""All ranks read their records, then they meet, whatever a record holds.

The rank with the torn record never came: it tried for ever, in ``read``.  Now
it gives up after some tries.  Every rank reaches the barrier, whatever it read.
"""

import time

import torch.distributed as dist

from barrier_lab import main

TRIES = 5


def read(record: str) -> int | None:
    for _ in range(TRIES):
        try:
            return int(record)
        except ValueError:
            time.sleep(0.1)  # a slow disk? try again
    return None


def worker(rank: int, world_size: int, *, torn: int = 2) -> int:
    records = ["31", "41", "59"]
    if rank == torn:
        records[1] = "4?"  # half written
    numbers = [read(record) for record in records]
    dist.barrier()
    return len([number for number in numbers if number is not None])


if __name__ == "__main__":
    main(worker, world_size=4)
