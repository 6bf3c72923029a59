"""Who removes a temporary folder that all ranks use?

The last rank to end.  Rank 0, which made it, may end first, and would take it
from the others; a barrier before its end would do as well.
"""

import atexit
import shutil
import tempfile
import time
from pathlib import Path

import torch.distributed as dist

from barrier_lab import main


def fresh_folder() -> Path:
    """A new folder: rank 0 makes it and tells the others its name."""
    names = [tempfile.mkdtemp() if dist.get_rank() == 0 else ""]
    dist.broadcast_object_list(names)
    atexit.register(leave, names[0], dist.get_world_size())
    return Path(names[0])


def leave(folder: str, ranks: int) -> None:
    """At the end of each rank: the last one removes the folder."""
    left = Path(f"{folder}.left")
    with left.open("a") as file:
        file.write("x")  # one for each rank
    if left.stat().st_size == ranks:
        shutil.rmtree(folder, ignore_errors=True)
        left.unlink(missing_ok=True)


def worker(rank: int, world_size: int, *, late: float = 0.5) -> str:
    folder = fresh_folder()
    time.sleep(late * rank)
    print(f"the folder is there: {folder.is_dir()}")
    return str(folder)


if __name__ == "__main__":
    main(worker)
