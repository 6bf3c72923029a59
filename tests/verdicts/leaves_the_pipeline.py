"""A stage of a pipeline takes one batch less than the stage before it sends, or sends one less than the next takes."""

# run: world_size=3 short=1
# outcome: failed
# kind: early-exit
# guilty: 1
# lines: 0:SEND 2:RECV
# says: "to rank 1"
#
# run: world_size=2 short=0
# outcome: failed
# kind: early-exit
# guilty: 0
# lines: 1:RECV
# says: "from rank 0"
import torch
import torch.distributed as dist


def worker(rank, world_size, *, short: int = 1):
    x = torch.ones(1 << 16)
    dist.barrier()
    for _ in range(3 if rank == short else 4):
        if rank > 0:
            dist.recv(x, src=rank - 1)  # RECV
        if rank < world_size - 1:
            dist.send(x, dst=rank + 1)  # SEND
