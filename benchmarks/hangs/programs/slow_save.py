"""Rank 0 writes the checkpoint, the others wait for it in the barrier after it."""

# run: world_size=2
# outcome: completed
# kind: slow
# guilty: none
import os
import tempfile
import time

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    weights = torch.ones(1 << 16)
    for _ in range(3):
        dist.all_reduce(weights)
        if dist.get_rank() == 0:
            with tempfile.TemporaryDirectory() as folder:
                torch.save(weights, os.path.join(folder, "model.pt"))
            time.sleep(0.7)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
