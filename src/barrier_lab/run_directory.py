"""The run directory, to which the ranks write and from which everything is read.

It contains ``run.json`` and, for each rank, ``rankN.trace.json``, ``rankN.log`` and ``rankN.stack``.
"""

import json
import os
from pathlib import Path

from barrier_lab.errors import UsageError

SCHEMA = 1  # of run.json and of the traces
OF_A_RUN = ("run.json", "rank*.trace.json")


def trace_of(directory: Path, rank: int) -> Path:
    """Path of a rank's trace."""
    return directory / f"rank{rank}.trace.json"


def log_of(directory: Path, rank: int) -> Path:
    """Path of a rank's output."""
    return directory / f"rank{rank}.log"


def stack_of(directory: Path, rank: int) -> Path:
    """Path of a rank's thread stacks, dumped when it stalled or when the deadline passed."""
    return directory / f"rank{rank}.stack"


def traces(directory: Path) -> dict[int, Path]:
    """Paths of all traces by rank, in ascending order."""
    found = {int(path.name[4:-11]): path for path in directory.glob(OF_A_RUN[1]) if path.name[4:-11].isdigit()}
    return dict(sorted(found.items()))


def make(out: str | Path, files: tuple[str, ...] = OF_A_RUN) -> Path:
    """Create the directory ``out`` if needed and return its absolute path.

    Raises ``UsageError`` if it is not writable or already contains a file that matches one of the patterns ``files``.
    """
    directory = Path(out).expanduser().absolute()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        writable = os.access(directory, os.W_OK | os.X_OK)
    except OSError:
        writable = False
    if not writable:
        raise UsageError(f"The folder {directory} cannot be written: give another one with --out.")
    if any(found for pattern in files for found in directory.glob(pattern)):
        raise UsageError(f"The folder {directory} already holds a run, which is kept: give another one with --out.")
    return directory


def write_run_json(directory: Path, facts: dict) -> None:
    """Replace ``run.json`` atomically."""
    path = directory / "run.json"
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps({"schema": SCHEMA} | facts, indent=1))
    fresh.replace(path)


def read_run_json(directory: Path) -> dict:
    """Read ``run.json``.  Returns an empty dict if it is missing, truncated or not one of ours."""
    try:
        facts = json.loads((directory / "run.json").read_text())
    except (FileNotFoundError, IsADirectoryError, ValueError):
        return {}
    return facts if isinstance(facts, dict) and facts.get("schema") == SCHEMA else {}
