"""Where does the barrier belong when rank 0 saves and the others load?

After the save.  A barrier before it makes all ranks start at the same time,
and says nothing about when the file is whole.
"""

import io
import time
from pathlib import Path

import torch
import torch.distributed as dist

from barrier_lab import main
from shared_folder import fresh_folder


def save(state: dict, path: Path, seconds: float) -> None:
    """As torch.save(state, path) on a slow disk."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    data = buffer.getvalue()
    with path.open("wb") as file:
        file.write(data[: len(data) // 2])
        file.flush()
        time.sleep(seconds)
        file.write(data[len(data) // 2 :])


def load(path: Path) -> str:
    """What a rank gets that loads the checkpoint now."""
    try:
        return f"loads epoch {torch.load(path)['epoch']}"
    except (OSError, EOFError, RuntimeError) as error:
        return f"cannot load: {type(error).__name__}"


def worker(
    rank: int,
    world_size: int,
    *,
    before: bool = True,
    after: bool = False,
    delay: float = 2.0,  # how long the save takes
    late: float = 1.0,  # the others do something else first
    folder: str = "",
) -> None:
    path = Path(folder or fresh_folder()) / "model.pt"
    if before:
        dist.barrier()  # line A
    if rank == 0:
        save({"epoch": 1, "weights": torch.zeros(1000)}, path, delay)
        print("has saved epoch 1")
    if after:
        dist.barrier()  # line B
    if rank != 0:
        time.sleep(late)
        print(load(path))


if __name__ == "__main__":
    main(worker)
