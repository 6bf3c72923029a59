"""A script that takes its ranks as options, as many were written for the old launcher."""

import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=0)
parser.add_argument("--world-size", type=int, default=1)
given = parser.parse_args()

if "RANK" not in os.environ:
    print("not using distributed mode")
else:
    rank, size = os.environ["LOCAL_RANK"], os.environ["WORLD_SIZE"]
    print(
        f"local rank: option {given.local_rank}, environment {rank}; "
        f"world size: option {given.world_size}, environment {size}\n",
        end="",  # in one piece
    )
