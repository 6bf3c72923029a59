"""A rank returns from its own main function without a last barrier, and a thread keeps its process alive."""

# run:
# outcome: hung
# kind: early-exit
# guilty: 1
# lines: 0:B
import threading
import time

import torch.distributed as dist

from barrier_lab import main


def heartbeat():
    while True:
        time.sleep(0.2)


def worker(rank, world_size):
    dist.init_process_group("gloo")
    dist.barrier()
    threading.Thread(target=heartbeat).start()
    if rank == 1:
        return  # no destroy_process_group: the connections stay open
    dist.barrier()  # B


if __name__ == "__main__":
    main(worker, init=False)
