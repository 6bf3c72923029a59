"""Does the order of lines on a terminal show the order of events?

No.  Rank 0 keeps its lines in a buffer, as every program does whose output goes to a file or a pipe, so they arrive late.
"""

import time

import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, keeps_lines: int = 0, busy: float = 1.0) -> None:
    buffer = -1 if rank == keeps_lines else 1  # 1: send each line at once; -1: keep lines, send a block
    with open(1, "w", buffer, closefd=False) as terminal:  # 1 is the standard output, without the lab's stamps
        print(f"before the barrier, at {time.monotonic():.3f}", file=terminal)
        dist.barrier()
        print(f"after the barrier, at {time.monotonic():.3f}", file=terminal)
        time.sleep(busy)


if __name__ == "__main__":
    main(worker)
