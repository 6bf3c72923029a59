"""A program over a package: the call that only rank 0 makes lies two files away from the script."""

# run:
# outcome: hung
# kind: several-files
# differ: 0:MEAN 1:MEET
# lines: 0:VAL 1:MEET
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "some_barrier_lab_project"))
from engine.loop import epoch, validate


def worker(rank, world_size):
    epoch(rank, 0)
    validate(rank)  # VAL
