"""A job that fails in its first attempt, and adds up a number in its second.

torchrun --standalone --nproc-per-node 2 --max-restarts 1 starts_again.py
"""

import os
import sys
from datetime import timedelta

import torch
import torch.distributed as dist

attempt = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
dist.init_process_group("gloo", timeout=timedelta(seconds=10))
total = torch.ones(1)
dist.all_reduce(total)  # all are in
if attempt == 0 and dist.get_rank() == 1:
    sys.exit(1)
dist.barrier()
line = f"attempt {attempt}, rank {dist.get_rank()}: the sum is {int(total)}\n"
print(line, end="", flush=True)  # in one piece
dist.destroy_process_group()
