"""One rank trains in another precision or with another type of integers, and nobody tells the collective."""

# run: kind="width"
# outcome: failed
# kind: mismatch
# differ: 0:A 1:A
# says: "float32" "float64"
#
# run: kind="meaning"
# outcome: completed
# kind: mismatch
# differ: 0:A 1:A
# says: "float32" "int32"
import torch
import torch.distributed as dist


def worker(rank, world_size, *, kind: str = "width"):
    other = torch.float64 if kind == "width" else torch.int32
    x = torch.ones(64, dtype=other if rank == 1 else torch.float32)
    dist.all_reduce(x)  # A
    print(x[0].item())
    dist.barrier()
