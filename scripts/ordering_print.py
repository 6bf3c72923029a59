"""Does the order of lines on a terminal show the order of events?

No.  Rank 0 keeps its lines for a while, as Python does when output goes to
a file or a pipe, and they arrive late.
"""

import time

import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, late: float = 0.5) -> None:
    # 8192: keep lines until there are so many bytes; 1: send each line.
    # File 1 is the standard output, here without the lab's own stamps.
    buffering = 8192 if rank == 0 else 1
    with open(1, "w", buffering, closefd=False) as terminal:
        if rank != 0:
            time.sleep(late)
        print(f"before the barrier, at {time.time():.3f}", file=terminal)
        dist.barrier()
        print(f"after the barrier, at {time.time():.3f}", file=terminal)
        time.sleep(late)


if __name__ == "__main__":
    main(worker)
