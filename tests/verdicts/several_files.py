"""Any project of several files (as all reports with a repository are): the loop is in another file of the user."""

# run: case="lock"
# outcome: hung
# kind: several-files
# guilty: 1
# lines: 1:Q 1:T 0:A
#
# run: case="ddp" deadline=6
# outcome: hung
# kind: hidden
# differ: 0:F 1:B
# lines: 0:V
# says: "broadcast"

import several_files_engine
import torch.distributed as dist


def worker(rank, world_size, *, case: str = "lock"):
    if case == "ddp":
        several_files_engine.validate_on_first(rank)  # V
    else:
        several_files_engine.one_epoch(rank)  # T
    dist.barrier()  # B
