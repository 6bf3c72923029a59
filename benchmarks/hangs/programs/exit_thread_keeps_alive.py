"""A rank returns from main without the last barrier, and its heartbeat thread keeps the process alive."""

# run: world_size=2
# outcome: hung
# kind: early-exit
# guilty: 1
# lines: 0:B
import threading
import time

import torch.distributed as dist


def heartbeat():
    while True:
        time.sleep(0.5)


def main():
    dist.init_process_group("gloo")
    threading.Thread(target=heartbeat).start()
    dist.barrier()
    if dist.get_rank() == 1:
        return  # "only rank 0 has something to write"
    dist.barrier()  # B


if __name__ == "__main__":
    main()
