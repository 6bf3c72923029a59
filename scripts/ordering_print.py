"""Does the order of lines on a terminal show the order of events?

No.  Rank 0 keeps its lines for a while, as Python does when output goes to
a file or a pipe, and they arrive late.
"""

import time

import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    keeps_lines: int = 0,
    busy: float = 1.0,
) -> None:
    # 8192: keep lines until there are so many bytes; 1: send each line.
    # File 1 is the standard output, here without the lab's own stamps.
    buffering = 8192 if rank == keeps_lines else 1
    with open(1, "w", buffering, closefd=False) as terminal:
        print(f"before the barrier, at {time.monotonic():.6f}", file=terminal)
        dist.barrier()
        print(f"after the barrier, at {time.monotonic():.6f}", file=terminal)
        time.sleep(busy)


if __name__ == "__main__":
    main(worker)
