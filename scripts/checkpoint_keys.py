"""What are the keys of a model that is wrapped for training?

All begin with "module.", since the wrapper holds the model under that name.
Save the model inside.
"""

from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from barrier_lab import main
from shared_folder import fresh_folder


def try_load(model: torch.nn.Module, state: dict, which: str) -> None:
    try:
        model.load_state_dict(state)
        print(f"loads into {which} model")
    except RuntimeError as error:
        print(f"does not load into {which} model:")
        print("\n".join(str(error).splitlines()[1:]))


def worker(rank: int, world_size: int, *, folder: str = "") -> dict[str, list[str]]:
    path = Path(folder or fresh_folder())
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    wrapped = DistributedDataParallel(torch.nn.Linear(10, 2).to(device))
    keys = {}
    for name, model in {"wrapped": wrapped, "inside": wrapped.module}.items():
        if rank == 0:
            torch.save(model.state_dict(), path / f"{name}.pt")
        dist.barrier()
        state = torch.load(path / f"{name}.pt", map_location="cpu")
        keys[name] = list(state)
        print(f"{name}.pt with the keys {', '.join(state)}")
        try_load(wrapped, state, "the wrapped")
        try_load(torch.nn.Linear(10, 2), state, "a plain")
    return keys


if __name__ == "__main__":
    main(worker)
