"""What the book costs beyond its experiments: a cold build, against the sum of the experiments' own times.

An experiment's own time runs from the common start of its ranks to the end of the last one; start-up is not in it.
The sum counts each run whole, also those that ran at the same time as others, in one notebook or in several.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from barrier_lab import trace

ROOT = Path(__file__).parent.parent
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "_build", "__pycache__", ".*_cache")


def build(copy: Path, kept: Path) -> tuple[float, str]:
    """Build the book in a fresh copy, keeping every run: seconds, and what it says of its notebooks' times."""
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    command = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-W", "-n", "--keep-going"]
    environment = os.environ | {"BARRIER_LAB_KEEP": str(kept)}
    began = time.monotonic()
    done = subprocess.run(command, cwd=copy, env=environment, check=True, capture_output=True, text=True)
    return time.monotonic() - began, re.search(r"Notebooks executed: .*", done.stdout).group()


def own_time(directory: Path) -> float:
    """Seconds from the common start of a run to its end."""
    return trace.read(directory).end


def main() -> None:
    """Print both times, and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "runs"
        wall, said = build(Path(folder) / "book", kept)
        runs = [own_time(path.parent) for path in kept.glob("*/run.json")]
    print(said)
    print(f"whole cold build                            {wall:6.1f} s")
    print(f"sum of the own times of its {len(runs):3} runs        {sum(runs):6.1f} s")
    print(f"build / sum                                 {wall / sum(runs):6.2f}")


if __name__ == "__main__":
    main()
