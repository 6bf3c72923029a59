"""Every rank becomes another program, which knows nothing of this book."""

import os

from barrier_lab import main


def worker(rank: int, world_size: int) -> None:
    os.execvp("sleep", ["sleep", "1000"])


if __name__ == "__main__":
    main(worker)
