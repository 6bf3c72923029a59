"""What are the keys of a model that is wrapped for training?

All begin with "module.", since the wrapper holds the model under that name.
Save the model inside.
"""

from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from barrier_lab import main
from zero_first import fresh_folder


def try_load(model: torch.nn.Module, state: dict, which: str) -> None:
    try:
        model.load_state_dict(state)
        print(f"loads into {which} model")
    except RuntimeError as error:
        print(f"does not load into {which} model:")
        print("\n".join(str(error).splitlines()[1:]))


def worker(rank: int, world_size: int, *, inside: bool = False, folder: str = "") -> list[str]:
    path = Path(folder or fresh_folder()) / "model.pt"
    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    model = DistributedDataParallel(torch.nn.Linear(10, 2).to(device))
    if rank == 0:
        state = (model.module if inside else model).state_dict()
        torch.save(state, path)
    dist.barrier()

    state = torch.load(path, map_location="cpu")
    try_load(model, state, "the wrapped")
    try_load(torch.nn.Linear(10, 2), state, "a plain")
    return list(state)


if __name__ == "__main__":
    main(worker)
