"""Which collectives does DistributedDataParallel call, and in which step?

PyTorch's flight recorder lists them: broadcasts in forward passes are among
them, of the buffers, and once for the rebuild of the buckets.
"""

import inspect
import json
import os

import torch
import torch._dynamo  # DDP loads it anyway: not within the run
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from barrier_lab import main

os.environ["TORCH_FR_BUFFER_SIZE"] = "1000"  # before the group is made
known = inspect.signature(DistributedDataParallel).parameters
NEW = "forward_sync_buffers"  # since PyTorch 2.13
SYNC = NEW if NEW in known else "broadcast_buffers"


def recorded() -> list[str]:
    """What the flight recorder of this process has seen, oldest first."""
    text = torch._C._distributed_c10d._dump_fr_trace_json()  # private
    entries = json.loads(text).get("entries", [])  # none: no such key
    return [entry["profiling_name"].split(":")[-1] for entry in entries]


def worker(rank: int, world_size: int) -> None:
    seen = len(recorded())

    def report(step: str) -> None:
        nonlocal seen
        calls = recorded()[seen:]
        seen += len(calls)
        if rank == 0:
            print(f"{kind:9} | {step:26} | {' '.join(calls)}")

    device = "cuda" if dist.get_backend() == "nccl" else "cpu"
    data = torch.randn(16, 8, device=device)
    options = {"BatchNorm": {}, "plain": {}, "not sent": {SYNC: False}}
    for kind in options:
        norm = nn.Identity() if kind == "plain" else nn.BatchNorm1d(4)
        net = nn.Sequential(nn.Linear(8, 4), norm).to(device)
        model = DistributedDataParallel(net, **options[kind])
        report("built")
        for i in (1, 2, 3):
            output = model(data)
            report(f"training forward {i}")
            output.sum().backward()
            report(f"backward {i}")
        model.eval()
        for grad in ("no", "with"):
            for i in (1, 2):
                with torch.set_grad_enabled(grad == "with"):
                    model(data)
                report(f"eval, {grad} grad, forward {i}")


if __name__ == "__main__":
    main(worker)
