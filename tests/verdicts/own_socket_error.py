"""An error of the program's own speaks of a socket or a connection: it is the cause, no consequence."""

# run: kind="refused"
# outcome: failed
# kind: exception
# guilty: 1
# lines: 1:REFUSED 0:B
# says: "feature store" "(?s)[Rr]ank 1 .*[Rr]ank 0"
#
# run: kind="socket" world_size=3
# outcome: failed
# kind: exception
# guilty: 1
# lines: 1:SOCKET 0:B
# says: "the socket of the metrics server is gone"
import torch.distributed as dist


def fetch(rank, kind):
    if rank == 1 and kind == "refused":
        raise ConnectionRefusedError("connection refused by the feature store")  # REFUSED
    if rank == 1:
        raise RuntimeError("the socket of the metrics server is gone: connection reset")  # SOCKET


def worker(rank, world_size, *, kind: str = "refused"):
    dist.barrier()
    fetch(rank, kind)
    dist.barrier()  # B
