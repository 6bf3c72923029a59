"""A cycle over two kinds of waiting: rank 0 is in barrier, rank 1 waits for a message that rank 0 sends after it."""

# run:
# outcome: hung
# kind: cycle
# lines: 0:B 1:R
# says: "recv" "from rank 0"
#
# run: world_size=3
# outcome: hung
# kind: message
# guilty: 1
# also: 0
# lines: 0:B 2:B 1:R
# says: "from rank 0"
import torch
import torch.distributed as dist


def worker(rank, world_size):
    config = torch.ones(4)
    if rank == 1:
        dist.recv(config, src=0)  # R
    dist.barrier()  # B
    if rank == 0:
        dist.send(config, dst=1)
