"""Say who this process is by its environment, and stay until the file named on the command line is gone."""

import os
import sys
import time
from pathlib import Path

NAMES = "RANK", "LOCAL_RANK", "GROUP_RANK", "WORLD_SIZE", "MASTER_PORT"
says = " ".join(f"{name}={os.environ.get(name)}" for name in NAMES)
print(f"{says}\n", end="", flush=True)  # in one piece
limit = time.monotonic() + 60
while len(sys.argv) > 1 and Path(sys.argv[1]).exists() and time.monotonic() < limit:
    time.sleep(0.05)
