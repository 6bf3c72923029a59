"""What does barrier return, raise or warn about, where it takes more than one rank to see it?

One answer for each value of ``case``; the page "barrier: API card" runs them all.
"""

import os
import time
import warnings
from datetime import timedelta
from typing import Literal

import torch.distributed as dist

from barrier_lab import main


def worker(
    rank: int,
    world_size: int,
    *,
    case: Literal["blocking", "async_op", "outside", "timeout"] = "blocking",
    late: float = 2.0,
    limit: float = 1.0,
) -> str:
    if case == "outside":  # a group of rank 0 alone; every rank makes it
        group = dist.new_group([0])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            answer = dist.barrier(group)
        return f"{answer}, warnings: {[w.category.__name__ for w in said]}"
    if case == "timeout":
        os.environ["TORCH_DIST_INIT_BARRIER"] = "1"  # all make it before one waits
        group = dist.new_group()  # of its own: a timeout spoils it
    if rank == 1:
        time.sleep(late)
    try:
        if case == "timeout":
            return f"{dist.barrier(group, timeout=timedelta(seconds=limit))}"
        if case == "blocking":
            return f"{dist.barrier()}"
        work = dist.barrier(async_op=True)
        at_first = work.is_completed()
        work.wait()
        return f"{type(work).__name__}; completed: {at_first}, after wait: {work.is_completed()}"
    except (RuntimeError, TypeError) as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


if __name__ == "__main__":
    main(worker)
