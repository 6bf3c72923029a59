"""``run``, ``run_many`` and ``load``: run experiments, or load a recorded run."""

import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

from barrier_lab import trace
from barrier_lab.display import notebook
from barrier_lab.errors import UsageError
from barrier_lab.planning.plan import Plan
from barrier_lab.planning.prepare import OPTIONS, prepare
from barrier_lab.rank.current_rank import refuse_in_a_rank
from barrier_lab.result import Run
from barrier_lab.script import unused_worker
from barrier_lab.temporary_folder import Folder
from barrier_lab.trace.nodes import read_nodes


def load(directory: str | Path, *more: str | Path) -> Run:
    """Load the run in ``directory``, finished or not; of a job on several nodes, give the directories of all.

    Raises ``UsageError`` if a directory holds no run, or if they are not of one job.
    """
    folders = [Path(folder) for folder in (directory, *more)]
    for folder in folders:
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder} is no folder: give the folder that --out named.")
    try:
        return Run(read_nodes(folders) if more else trace.read(directory))
    except FileNotFoundError as error:
        raise UsageError(f"{error}: give the folder that --out named.") from None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        where = " and ".join(map(str, folders))
        raise UsageError(f"The files in {where} are damaged, or not those of a run ({error!r}).") from error


def run(
    name_or_path: str | Path,
    *,
    world_size: int | None = None,
    backend: str = "auto",
    deadline: float = 60.0,
    timeout: float | None = None,
    start_method: str = "spawn",
    out: str | Path | None = None,
    **parameters: object,
) -> Run:
    """Run an experiment in new processes and wait for it to finish.

    ``name_or_path``: the name of one of the book's experiments, or the path of a script that defines
    ``worker(rank, world_size)``.
    ``deadline``: seconds after the common start at which the remaining ranks are stopped (outcome "hung").
    ``timeout``: timeout of the process group in seconds.  Default: torch's default.
    ``start_method``: "spawn", or "forkserver", which starts ranks in about 0.1 s once the server is warm.
    ``out``: run directory, new or empty.  Default: a temporary directory, removed with the returned ``Run``.
    Other keyword arguments are passed to the worker.  Raises ``UsageError`` (a ``ValueError``) for invalid arguments.
    """
    finished = execute(
        name_or_path, world_size=world_size, backend=backend, deadline=deadline, timeout=timeout,
        start_method=start_method, out=out, parameters=parameters,
    )  # fmt: skip
    if finished.outcome == "interrupted":
        raise KeyboardInterrupt(finished.verdict)
    return finished


def run_many(variants: list[dict]) -> list[Run]:
    """Run several experiments concurrently and return their runs in the same order.

    Each variant is a dict with the key ``experiment`` (the ``name_or_path`` of ``run``) and any keyword arguments of
    ``run``; ``start_method`` defaults to "forkserver".  The runs share the CPU, so do not use this for measurements.
    """
    refuse_in_a_rank("run_many(…)")
    plans = [_plan_variant(variant) for variant in variants]  # all before the first run starts, and in this thread
    _refuse_one_folder_for_two([plan for plan, _ in plans])
    if not plans:
        return []
    cancel = threading.Event()
    with notebook.watch(f"{len(plans)} runs") as show, ThreadPoolExecutor(max_workers=len(plans)) as pool:
        futures = [pool.submit(perform, plan, folder, cancel=cancel) for plan, folder in plans]
        running = set(futures)
        try:
            while running:
                over, running = wait(running, notebook.EVERY if show else None, FIRST_COMPLETED)
                for future in over:
                    future.result()  # a variant that cannot run cancels all others
                if show:
                    show(partial("{} still going".format, len(running)))
            return [future.result() for future in futures]
        except BaseException:
            cancel.set()
            raise


def _plan_variant(variant: dict) -> tuple[Plan, Folder | None]:
    if not isinstance(variant, dict):
        raise UsageError(f"A variant of run_many cannot be {variant!r}: give a dict with an entry 'experiment'.")
    given = dict(variant)
    names = [given.pop(key) for key in ("experiment", "name_or_path") if key in given]
    if len(names) != 1:
        raise UsageError("A variant names no experiment, or two: give each one an entry 'experiment'.")
    options = {key: given.pop(key) for key in OPTIONS if key in given}
    return prepare(names[0], **{"start_method": "forkserver"} | options, parameters=given)


def _refuse_one_folder_for_two(plans: list[Plan]) -> None:
    folders = [plan.directory for plan in plans]
    for folder in folders:
        if folders.count(folder) > 1:
            raise UsageError(f"The folder {folder} is named by two variants: give each run another one.")


def execute(name_or_path, *, on_line=None, on_tick=None, cancel=None, **arguments) -> Run:
    """``run`` with progress callbacks.  An interrupted run is returned as well, instead of raising."""
    refuse_in_a_rank("run(…)")
    return perform(*prepare(name_or_path, **arguments), on_line, on_tick, cancel)


def perform(plan: Plan, folder: Folder | None, on_line=None, on_tick=None, cancel=None) -> Run:
    """Launch a prepared run, wait for it to finish, and read what it recorded."""
    from barrier_lab.runner import launch

    unused_worker.used()
    directory = Path(plan.directory)
    with notebook.watch(plan.experiment) as show:

        def tick() -> None:
            if on_tick:
                on_tick(directory)
            if show:
                show(lambda: _doing_now(directory))

        outcome = launch.launch(plan, on_line, tick, cancel)
    try:
        recorded = trace.read(directory)
    except FileNotFoundError:
        raise UsageError(f"The folder {directory} was removed during the run: run again, and leave it there.") from None
    recorded.outcome = outcome  # run.json lacks it if the disk was full
    return Run(recorded, folder)


def _doing_now(directory: Path) -> str:
    from barrier_lab.display import terminal  # rich takes a tenth of a second to import

    try:
        return terminal.doing_now(directory).plain
    except (OSError, ValueError):  # another process changed the folder; the run continues
        return "running"
