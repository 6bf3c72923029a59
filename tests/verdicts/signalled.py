"""The system ends a rank: for lack of memory, for a fault in native code, or by an assertion there."""

# run: how="SIGKILL"
# outcome: failed
# kind: killed
# guilty: 1
# lines: 1:A 0:B
# says: "SIGKILL"
#
# run: how="SIGSEGV" world_size=3
# outcome: failed
# kind: killed
# guilty: 1
# lines: 1:A 0:B
# says: "SIGSEGV"
#
# run: how="abort"
# outcome: failed
# kind: killed
# guilty: 1
# lines: 1:A 0:B
# says: "SIGABRT"
import os
import signal

import torch
import torch.distributed as dist


def worker(rank, world_size, *, how: str = "SIGKILL"):
    dist.all_reduce(torch.ones(1))  # A
    if rank == 1:
        if how == "abort":
            os.abort()
        os.kill(os.getpid(), getattr(signal, how))
    dist.barrier()  # B
