"""What is given for a run, checked, and made into the plan that ``launch`` follows."""

import json
import math
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from barrier_lab import backend as backends
from barrier_lab import script
from barrier_lab.errors import UsageError
from barrier_lab.folders import Folder

MAX_WORLD_SIZE = 64
START_METHODS = ("spawn", "forkserver")
OPTIONS = ("world_size", "backend", "deadline", "timeout", "start_method", "out")  # of run, beside the parameters
RESERVED = {*OPTIONS, "name_or_path", "plot", "json", "experiment"}


@dataclass(frozen=True)
class Prepared:
    """A run that has not begun: its plan, and its folder if that goes with it."""

    plan: dict
    folder: Folder | None


def prepare(
    name_or_path, *, world_size=None, backend="auto", deadline=60.0, timeout=None, start_method="spawn", out=None,
    parameters=None,
) -> Prepared:  # fmt: skip
    """Check everything that is given for a run, and plan it.  ``UsageError`` for wrong input."""
    experiment = script.read(script.find(name_or_path), RESERVED)
    plan = {
        "experiment": experiment.name,
        "script": str(experiment.path),
        "parameters": script.checked(experiment, parameters or {}),
        "init": experiment.init,
        "world_size": _world_size(experiment.world_size if world_size is None else world_size),
        "deadline": seconds("deadline", deadline),
        "timeout": None if timeout is None else seconds("timeout", timeout),
        "start_method": start_method,
    }
    if start_method not in START_METHODS:
        raise UsageError(f"The start method {start_method!r} is not known: choose one of {', '.join(START_METHODS)}.")
    plan["backend"], plan["backend_reason"] = choose_backend(experiment, backend, timeout, plan["world_size"])
    directory, folder = _directory(out)
    return Prepared(plan | {"directory": str(directory)}, folder)


def choose_backend(about: script.Script, backend: str, timeout: object, local_ranks: int) -> tuple[str | None, str]:
    """Backend and reason.  A script that makes its group itself chooses there: ``UsageError`` if told here."""
    if about.init:
        return backends.choose_here(backend, local_ranks)
    if backend != "auto" or timeout is not None:
        raise UsageError(f"{about.name} makes its process group itself: leave out backend and timeout.")
    return None, "the script chose it"


def _world_size(value: object) -> int:
    try:
        size = int(str(value))
    except ValueError:
        size = 0
    if not 1 <= size <= MAX_WORLD_SIZE:
        raise UsageError(f"A world size cannot be {value!r}: give a whole number from 1 to {MAX_WORLD_SIZE}.")
    return size


def seconds(name: str, value: object) -> float:
    """A duration in seconds.  ``UsageError`` if it is none."""
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not 0 < seconds < 1e6:
        raise UsageError(f"The {name} cannot be {value!r}: give a number of seconds above 0.")
    return seconds


def _directory(out: str | Path | None) -> tuple[Path, Folder | None]:
    """A folder for the run: the given one, if it holds no run yet, or one that goes with the ``Run``.

    With BARRIER_LAB_KEEP set to a folder, every run that names none is kept there.
    """
    if out is None and (keep := os.environ.get("BARRIER_LAB_KEEP")):
        return Path(tempfile.mkdtemp(prefix="run-", dir=writable_directory(keep))), None
    if out is None:
        folder = Folder()
        return folder.path, folder
    return writable_directory(out), None


def writable_directory(out: str | Path, files: tuple[str, ...] = ("run.json", "rank*.trace.json")) -> Path:
    """Make the folder ``out`` if needed.

    ``UsageError`` if it cannot be written, or already holds one of the ``files`` (patterns) of a run.
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
    """Replace ``run.json`` atomically: a reader finds the old one or the new one."""
    path = directory / "run.json"
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps({"schema": 1} | facts, indent=1))
    fresh.replace(path)
