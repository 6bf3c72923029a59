"""All ranks read their records, then they meet, whatever a record holds.

The rank with the torn record never came: it tried for ever, in ``read``.  Now it gives up after some tries.
It could also raise an error, which would end all ranks; what it must not do is to go on without the barrier.
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
            time.sleep(0.1)  # the disk may be slow: try again
    return None


def worker(rank: int, world_size: int, *, torn: int = 2) -> int:
    records = ["31", "41", "59"]
    if rank == torn:
        records[1] = "4?"  # one rank has a record that was only half written
    numbers = [number for record in records if (number := read(record)) is not None]
    dist.barrier()
    return len(numbers)


if __name__ == "__main__":
    main(worker, world_size=4)
