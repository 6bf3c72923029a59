"""Lightning#7773: all_gather of tensors whose first dimension differs."""

# run: op="all_gather"
# outcome: failed
# kind: mismatch
# lines: A
# says: "2.{1,3}3" "3.{1,3}3"
#
# run: op="all_reduce"
# outcome: failed
# kind: mismatch
# lines: R
# says: "2.{1,3}3" "3.{1,3}3"

import torch
import torch.distributed as dist


def worker(rank, world_size, *, op: str = "all_gather"):
    x = torch.full((2 + rank, 3), float(rank + 1))
    if op == "all_gather":
        out = [torch.empty_like(x) for _ in range(world_size)]
        dist.all_gather(out, x)  # A
        print([t.shape[0] for t in out], [round(t.sum().item(), 3) for t in out])
    else:
        dist.all_reduce(x)  # R
        print(x.flatten().tolist())
    dist.barrier()  # B
