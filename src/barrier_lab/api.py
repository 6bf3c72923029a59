"""``run``: launch an experiment, read what it recorded, and show it."""

import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

from barrier_lab import trace
from barrier_lab.display import notebook
from barrier_lab.errors import UsageError
from barrier_lab.planning.plan import Plan
from barrier_lab.planning.prepare import OPTIONS, prepare
from barrier_lab.rank.here import refuse_in_a_rank
from barrier_lab.result import Run
from barrier_lab.script import unstarted
from barrier_lab.temporary_folder import Folder


def load(directory: str | Path) -> Run:
    """The run of a run directory, finished or not.  ``UsageError`` if there is none."""
    try:
        return Run(trace.read(directory))
    except FileNotFoundError as error:
        raise UsageError(f"{error}: give the folder that --out named.") from None
    except NotADirectoryError:
        raise UsageError(f"{directory} is no folder: give the folder that --out named.") from None


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
    """Run an experiment on freshly started processes, and return when it is over.

    ``name_or_path``: one of the book's experiments, or a file of your own with a ``worker(rank, world_size)``.
    ``deadline``: seconds from the common start after which ranks that are left are stopped ("hung").
    ``timeout``: the process group's own timeout in seconds; None leaves torch's default.
    ``start_method``: "spawn", or "forkserver", which starts ranks in a tenth of a second once it is warm.
    ``out``: an empty or new folder for the run directory; None keeps it as long as the ``Run`` lives.
    Other keywords go to the worker.  ``UsageError`` (a ``ValueError``) for wrong input.
    """
    finished = execute(
        name_or_path, world_size=world_size, backend=backend, deadline=deadline, timeout=timeout,
        start_method=start_method, out=out, parameters=parameters,
    )  # fmt: skip
    if finished.outcome == "interrupted":
        raise KeyboardInterrupt(finished.verdict)
    return finished


def run_many(variants: list[dict]) -> list[Run]:
    """Run several experiments at once, from a warm forkserver, and return their runs in the same order.

    Each variant is a dict with ``experiment``, what ``run`` calls ``name_or_path``, and any argument of ``run``.  They
    share the processor: for variants that sleep and wait, not for those that measure.
    """
    refuse_in_a_rank("run_many(…)")
    plans = [_plan_variant(variant) for variant in variants]  # before the first one starts, and not in threads
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
                    future.result()  # the first variant that cannot run ends all
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
    """``run`` for callers who watch: an interrupted run is returned, too."""
    refuse_in_a_rank("run(…)")
    return perform(*prepare(name_or_path, **arguments), on_line, on_tick, cancel)


def perform(plan: Plan, folder: Folder | None, on_line=None, on_tick=None, cancel=None) -> Run:
    """Launch a prepared run, wait for its end, and read what it recorded."""
    from barrier_lab.runner import launch

    unstarted.used()
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
    recorded.outcome = outcome  # which run.json lacks if the disk was full
    return Run(recorded, folder)


def _doing_now(directory: Path) -> str:
    from barrier_lab.display import terminal  # rich takes a tenth of a second to import

    try:
        return terminal.doing_now(directory).plain
    except (OSError, ValueError):  # somebody else works in the folder: the run itself goes on
        return "running"
