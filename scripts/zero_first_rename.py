"""What do the others find when the preparation dies half-way?

Half a file, and nothing that says so.  If it was to be renamed when it is whole: no file.
"""

import os
from pathlib import Path

from barrier_lab import main
from shared_folder import fresh_folder
from zero_first import HALF, zero_first


def prepare(path: Path, rename: bool, dies: bool) -> None:
    """Write the data set; if it dies, fail when half of it is written."""
    written = path.with_suffix(".part") if rename else path
    with written.open("w") as file:
        file.write(HALF)
        if dies:
            raise OSError("no space left on the disk")
        file.write(HALF)
    os.replace(written, path)


def worker(
    rank: int,
    world_size: int,
    *,
    rename: bool = False,
    dies: bool = True,
    folder: str = "",
) -> None:
    path = Path(folder or fresh_folder()) / "data.txt"
    with zero_first(rank):
        if rank == 0:
            prepare(path, rename, dies)
    if path.exists():
        print(f"finds {len(path.read_text().splitlines())} rows")
    else:
        print("finds no file")


if __name__ == "__main__":
    main(worker, world_size=4)
