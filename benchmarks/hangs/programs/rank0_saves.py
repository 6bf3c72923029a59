"""Rank 0 alone calls a save that waits for everybody."""

# run: world_size=2
# outcome: hung
# kind: mismatch
# differ: 0:SAVE 1:STEP
# lines: 0:CALL
import os
import tempfile

import torch
import torch.distributed as dist


def save_checkpoint(state):
    with tempfile.TemporaryDirectory() as folder:
        torch.save(state, os.path.join(folder, "model.pt"))
    dist.barrier()  # SAVE


def main():
    dist.init_process_group("gloo")
    weights = torch.ones(4)
    for step in range(4):
        dist.all_reduce(weights)  # STEP
        if step == 1 and dist.get_rank() == 0:
            save_checkpoint({"weights": weights})  # CALL
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
