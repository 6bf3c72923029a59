"""A group of three of four ranks, of which one is stuck; the rank outside is not missing there."""

# run: world_size=4
# outcome: hung
# kind: group
# guilty: 2
# also: 0 3
# lines: 2:READ 0:SUM 3:SUM 1:END
# says: "ranks 0, 2 and 3"
# not: "[Rr]ank 1 had not called"
import os

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    workers = dist.new_group([0, 2, 3])
    if rank == 2:
        os.read(os.pipe()[0], 1)  # READ
    if rank != 1:
        dist.all_reduce(torch.ones(2), group=workers)  # SUM
    dist.barrier()  # END
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
