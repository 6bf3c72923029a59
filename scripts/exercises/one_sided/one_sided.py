"""All ranks read their records, then they meet.  They never do.

Find out which rank does not come, and on which line it is.  Then repair the
program: a record that cannot be read is left out, all ranks meet, and each
returns how many records it has read.
"""

import time

import torch.distributed as dist

from barrier_lab import main


def read(record: str) -> int:
    while True:
        try:
            return int(record)
        except ValueError:
            time.sleep(0.1)  # a slow disk? try again


def worker(rank: int, world_size: int, *, torn: int = 2) -> int:
    records = ["31", "41", "59"]
    if rank == torn:
        records[1] = "4?"  # half written
    numbers = [read(record) for record in records]
    dist.barrier()
    return len(numbers)


if __name__ == "__main__":
    main(worker, world_size=4)
