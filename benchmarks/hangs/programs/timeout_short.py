"""A cache takes longer to build than the timeout of the group: its rank arrives when the other has given up."""

# run: world_size=2
# outcome: failed
# kind: absent-call
# guilty: 0
# lines: 0:CACHE 1:B
# says: "timeout of 2 s"
import time
from datetime import timedelta

import torch.distributed as dist


def build_cache():
    time.sleep(30)  # CACHE


def main():
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    caching = dist.new_group(timeout=timedelta(seconds=2))
    if dist.get_rank() == 0:
        build_cache()
    dist.barrier(caching)  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
