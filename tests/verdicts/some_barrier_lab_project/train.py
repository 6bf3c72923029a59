"""A script inside the user's own project, whose folder has a name much like that of the tool."""

# run: world_size=3
# outcome: hung
# kind: several-files
# guilty: 2
# lines: 2:SHARD 2:EPOCH 0:MEAN 1:MEAN
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from engine.loop import epoch


def worker(rank, world_size):
    for number in range(2):
        epoch(rank, number)  # EPOCH
