"""The disk of one rank is slow: each of its batches takes longer."""

# run: world_size=2
# outcome: completed
# kind: slow
# guilty: none
import os
import time

import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        time.sleep(0.4 if os.environ["RANK"] == "1" else 0.02)
        return float(i)


def main():
    dist.init_process_group("gloo")
    for batch in DataLoader(Images(), batch_size=2):
        dist.all_reduce(batch)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
