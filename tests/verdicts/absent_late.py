"""A rank comes after the time-out of the process group: the others have given up by then."""

# run: world_size=3 timeout=1.5
# outcome: failed
# kind: absent-call
# guilty: 1
# lines: 1:SLOW 0:B 2:B
# says: "time-?out|[Tt]imed out"
import time

import torch.distributed as dist


def compile_kernels():
    time.sleep(30)  # SLOW


def worker(rank, world_size):
    dist.barrier()
    if rank == 1:
        compile_kernels()
    dist.barrier()  # B
