"""A worker process of one rank's DataLoader never returns its sample."""

# run: world_size=2
# outcome: hung
# kind: absent-call
# guilty: 1
# lines: 1:LOOP 0:A
import os

import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        if os.environ["RANK"] == "1" and i == 3:
            os.read(os.pipe()[0], 1)  # the network file system does not answer
        return float(i)


def main():
    dist.init_process_group("gloo")
    for batch in DataLoader(Images(), num_workers=1):  # LOOP
        dist.all_reduce(batch)  # A
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
