"""Two of four ranks are missing: one polls for a file, the other waits for its helper thread."""

# run: world_size=4
# outcome: hung
# kind: absent-call
# guilty: 1 3
# lines: 1:POLL 3:JOIN 0:A 2:A
import os
import threading
import time

import torch
import torch.distributed as dist


def wait_for_file(path):
    while not os.path.exists(path):
        time.sleep(0.1)  # POLL


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 1:
        wait_for_file("/nonexistent/ready")
    if rank == 3:
        helper = threading.Thread(target=threading.Event().wait, daemon=True)
        helper.start()
        helper.join()  # JOIN
    dist.all_reduce(torch.ones(4))  # A
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
