"""A worker that tells what it was given."""

import os
import sys
import threading
from typing import Literal

import torch
import torch.distributed as dist


def worker(
    rank: int,
    world_size: int,
    *,
    n: int = 1,
    x: float = 1.5,
    flag: bool = False,
    word: str = "",
    way: Literal["a", "b"] = "a",
    some: list[int] = (),
    maybe: float | None = 0.5,
) -> dict:
    print("out", flush=True)
    print("err", file=sys.stderr)
    os.write(1, b"from below Python\n")
    return {
        "rank": rank,
        "world_size": world_size,
        "given": [n, x, flag, word, way, list(some), maybe],
        "backend": dist.get_backend(),
        "variable": os.environ.get("TELL_ME"),
        "omp": os.environ.get("OMP_NUM_THREADS"),
        "torch_variable": os.environ.get("TORCH_TELL_ME"),
        "threads": torch.get_num_threads(),
        "local_rank": os.environ["LOCAL_RANK"],
        "name": __name__,
        "daemon": threading.current_thread().daemon,
    }
