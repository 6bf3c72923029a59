"""One rank finds its GPU memory too small and leaves with an exit code of its own."""

# run: world_size=2
# outcome: failed
# kind: early-exit
# guilty: 1
# lines: 0:B
import os
import sys

import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    dist.barrier()
    if dist.get_rank() == 1:
        print("not enough memory", file=sys.stderr, flush=True)
        os._exit(3)
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
