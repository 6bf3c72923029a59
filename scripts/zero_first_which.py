"""Which rank goes first, if there are several nodes, or if the rank variable is not what you think?

The one whose variable is 0.  Where each node has a disk of its own, each node needs a first rank: its local rank 0.
A wrong variable, or no process group yet, raises no error: then every rank does the work.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import torch.distributed as dist

from barrier_lab import main
from shared_folder import fresh_folder
from zero_first import prepare


@contextlib.contextmanager
def zero_first(rank: int | str) -> Iterator[None]:
    """As many write it: with -1, or without a process group, nobody waits."""
    distributed = rank != -1 and dist.is_initialized()
    if distributed and rank != 0:
        dist.barrier()
    try:
        yield
    finally:
        if distributed and rank == 0:
            dist.barrier()


def worker(
    rank: int,
    world_size: int,
    *,
    variable: Literal["rank", "local_rank", "minus_one", "zero", "text"] = "rank",
    nodes: int = 2,
    one_disk: bool = False,
    group: bool = True,
    folder: str = "",
) -> None:
    node, local_rank = divmod(rank, world_size // nodes)
    values = dict(rank=rank, local_rank=local_rank, minus_one=-1, zero=0, text=str(rank))
    name = "the one disk" if one_disk else f"the disk of node {node}"
    disk = Path(folder or fresh_folder()) / name
    disk.mkdir(exist_ok=True)
    if not group:  # as before init_process_group
        dist.destroy_process_group()
    with zero_first(values[variable]):
        if not (disk / "data.txt").exists():
            print(f"prepares the data set on {name}")
            prepare(disk / "data.txt")


if __name__ == "__main__":
    main(worker, world_size=4)
