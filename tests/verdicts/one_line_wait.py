"""Shape of many helpers: start an operation and wait for it on the same line; the other rank is somewhere else."""

# run: kind="handle"
# outcome: hung
# kind: in-flight
# guilty: 1
# lines: 1:Q 0:A
# says: "all_reduce"
#
# run: kind="two"
# outcome: hung
# kind: in-flight
# guilty: 1
# lines: 1:Q 0:C
# says: "all_reduce"
#
# run: kind="funcol"
# outcome: hung
# kind: in-flight
# guilty: 1
# lines: 1:Q 0:F
# says: "all_reduce"

import queue

import torch
import torch.distributed as dist


def worker(rank, world_size, *, kind: str = "handle"):
    x = torch.ones(4)
    dist.barrier()
    if rank == 0:
        if kind == "handle":
            dist.all_reduce(x, async_op=True).wait()  # A
        elif kind == "two":
            h = dist.all_reduce(x, async_op=True)
            h.wait()  # C
        else:
            import torch.distributed._functional_collectives as funcol

            funcol.wait_tensor(funcol.all_reduce(x, "sum", dist.group.WORLD))  # F
    else:
        queue.Queue().get()  # Q
