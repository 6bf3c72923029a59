"""The script says that there are four ranks, and two were started."""

# run: world_size=2
# outcome: hung
# kind: silence
# guilty: 2 3
# lines: 0:I 1:I
# says: "4 ranks" "2"
import os

import torch.distributed as dist


def main():
    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo", rank=rank, world_size=4)  # I
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
