"""Validate the arguments of a run and build a plan from them."""

import math
import os
import tempfile
from pathlib import Path

from barrier_lab import run_directory
from barrier_lab.errors import UsageError
from barrier_lab.planning import backend as backends
from barrier_lab.planning.plan import Plan
from barrier_lab.script import source
from barrier_lab.temporary_folder import Folder

MAX_WORLD_SIZE = 64
START_METHODS = ("spawn", "forkserver")


def prepare(
    name_or_path, *, world_size=None, backend="auto", deadline=60.0, timeout=None, start_method="spawn", out=None,
    parameters=None,
) -> tuple[Plan, Folder | None]:  # fmt: skip
    """Validate the arguments of a run and build its plan.  Raises ``UsageError`` for invalid arguments.

    Without ``out``, the run directory is a temporary folder, returned as well: it exists as long as that object.
    """
    experiment = source.read(source.find(name_or_path), RESERVED)
    ranks = _world_size(experiment.world_size if world_size is None else world_size)
    if start_method not in START_METHODS:
        raise UsageError(f"The start method {start_method!r} is not known: choose one of {', '.join(START_METHODS)}.")
    checked = _checked(experiment, parameters or {}, backend, deadline, timeout, local_ranks=ranks)
    directory, folder = _directory(out)
    return Plan(**checked, world_size=ranks, launcher=start_method, directory=str(directory)), folder


def prepare_for_torchrun(experiment: source.Script, parameters: dict, backend, deadline, timeout, out: Path) -> Plan:
    """Build the plan of one rank of a torchrun job, with the world size from the environment."""
    checked = _checked(experiment, parameters, backend, deadline, timeout, int(os.environ["LOCAL_WORLD_SIZE"]))
    return Plan(**checked, world_size=int(os.environ["WORLD_SIZE"]), launcher="torchrun", directory=str(out))


OPTIONS = tuple(name for name in prepare.__kwdefaults__ if name != "parameters")
RESERVED = {*OPTIONS, "name_or_path", "plot", "json", "experiment"}  # not allowed as names of worker parameters


def _checked(experiment: source.Script, parameters: dict, backend, deadline, timeout, local_ranks: int) -> dict:
    """Validate the arguments that do not depend on the launcher."""
    chosen, reason = _choose_backend(experiment, backend, timeout, local_ranks)
    return {
        "experiment": experiment.name,
        "script": str(experiment.path),
        "parameters": source.checked(experiment, parameters),
        "init": experiment.init,
        "backend": chosen,
        "backend_reason": reason,
        "deadline": positive("deadline", deadline),
        "timeout": None if timeout is None else positive("timeout", timeout),
    }


def _choose_backend(about: source.Script, backend: str, timeout: object, local_ranks: int) -> tuple[str | None, str]:
    """Backend and reason.  Raises ``UsageError`` if given here for a script that initializes its own group."""
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


def positive(name: str, value: object, unit: str = "seconds") -> float:
    """Parse an amount of ``unit``.  Raises ``UsageError`` if it is not a number between 0 and a million."""
    try:
        amount = float(value)
    except (TypeError, ValueError):
        amount = math.nan
    if not 0 < amount < 1e6:
        raise UsageError(f"The {name} cannot be {value!r}: give a number of {unit} above 0.")
    return amount


def _directory(out: str | Path | None) -> tuple[Path, Folder | None]:
    """The run directory: ``out``, which must not contain a run yet, or a temporary one removed with the ``Run``.

    If BARRIER_LAB_KEEP is set to a directory, runs without ``out`` are kept there instead.
    """
    if out is None and (keep := os.environ.get("BARRIER_LAB_KEEP")):
        return Path(tempfile.mkdtemp(prefix="run-", dir=run_directory.make(keep))), None
    if out is None:
        folder = Folder()
        return folder.path, folder
    return run_directory.make(out), None
