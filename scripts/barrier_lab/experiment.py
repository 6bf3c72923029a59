"""``run``: launch an experiment, read what it recorded, and show it."""

import math
import os
import tempfile
import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from barrier_lab import backend as backends
from barrier_lab import diagnose, notebook, script, trace
from barrier_lab.errors import UsageError
from barrier_lab.folders import Folder
from barrier_lab.rank import refuse_in_a_rank

MAX_WORLD_SIZE = 64
START_METHODS = ("spawn", "forkserver")
RESERVED = {
    "name_or_path",
    "world_size",
    "backend",
    "deadline",
    "timeout",
    "start_method",
    "out",
    "plot",
    "json",
    "experiment",
}


@dataclass
class Run:
    """A finished run: what happened, as text, as numbers and as a picture.

    ``outcome``: "completed", "failed", "hung" or "interrupted".  ``trace`` holds everything that was recorded,
    in seconds from the common start.
    """

    trace: trace.Trace
    _folder: Folder | None = field(default=None, repr=False)  # lives as long as the run

    @property
    def directory(self) -> Path:
        """The run directory."""
        return self.trace.directory

    @property
    def ranks(self) -> list[trace.Rank]:
        """One entry per rank."""
        return self.trace.ranks

    @cached_property
    def outcome(self) -> str:
        """One of "completed", "failed", "hung", "interrupted"."""
        return diagnose.outcome(self.trace)

    @cached_property
    def verdict(self) -> str:
        """What happened, in a sentence or two."""
        return diagnose.verdict(self.trace)

    def spans(self, rank: int | None = None, name: str | None = None) -> list[trace.Span]:
        """The recorded intervals in order of their begin, of one rank or all, of one name or all."""
        ranks = self.ranks if rank is None else [self.ranks[rank]]
        found = [span for r in ranks for span in r.spans if name in (None, span.name)]
        return sorted(found, key=lambda span: span.begin)

    def lines(self) -> list[tuple[int, trace.Output]]:
        """All printed lines as (rank, line), in order of time."""
        return sorted(((r.rank, line) for r in self.ranks for line in r.output), key=lambda pair: pair[1].t)

    def line(self, rank: int, text: str) -> trace.Output:
        """The first line of a rank that contains ``text``.  ``LookupError`` if there is none."""
        for line in self.ranks[rank].output:
            if text in line.text:
                return line
        raise LookupError(f"rank {rank} printed no line with {text!r}")

    @property
    def text(self) -> str:
        """The output in order of time, each line with its moment and its rank."""
        return "\n".join(f"{line.t:8.3f} s  rank {rank} | {line.text}" for rank, line in self.lines())

    def figure(self, title: str | None = None):
        """The timeline as a matplotlib figure."""
        from barrier_lab import timeline  # matplotlib takes half a second to import

        return timeline.draw(self.trace, title)

    def to_dict(self) -> dict:
        """The object that ``--json`` prints."""
        facts = trace.to_dict(self.trace)
        return {
            "schema": facts.pop("schema"),
            "experiment": facts.pop("experiment"),
            "parameters": facts.pop("parameters"),
            "outcome": self.outcome,
            "verdict": self.verdict,
        } | facts

    def __str__(self) -> str:
        return "\n".join(part for part in (self.text, self.verdict) if part)

    __repr__ = __str__

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        """Output, timeline and verdict: as HTML for pages and notebooks, as text for everything else."""
        from barrier_lab import page, timeline

        described = "\n\n".join(part for part in (self.text, timeline.describe(self.trace), self.verdict) if part)
        return {"text/html": page.to_html(self), "text/plain": described}


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
    ``timeout``: the process group's own time-out in seconds; None leaves torch's default.
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

    Each variant is a dict with ``experiment`` and any argument of ``run``.  They share the processor:
    for variants that sleep and wait, not for those that measure.
    """
    if not variants:
        return []
    cancel = threading.Event()
    with notebook.watch(f"{len(variants)} runs") as show, ThreadPoolExecutor(max_workers=len(variants)) as pool:
        futures = [pool.submit(_run_variant, dict(variant), cancel) for variant in variants]
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


def _run_variant(variant: dict, cancel: threading.Event) -> Run:
    if "experiment" not in variant:
        raise UsageError("A variant names no experiment: give each one an entry 'experiment'.")
    experiment = variant.pop("experiment")
    options = {key: variant.pop(key) for key in list(variant) if key in RESERVED}
    return execute(experiment, start_method="forkserver", parameters=variant, cancel=cancel, **options)


def execute(
    name_or_path, *, world_size=None, backend="auto", deadline=60.0, timeout=None, start_method="spawn", out=None,
    parameters=None, on_line=None, on_tick=None, cancel=None,
) -> Run:  # fmt: skip
    """``run`` for callers who watch: an interrupted run is returned, too."""
    refuse_in_a_rank("run(…)")
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
    plan["directory"] = str(directory)
    from barrier_lab import launch

    with notebook.watch(experiment.name) as show:

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
    from barrier_lab import terminal  # rich takes a tenth of a second to import

    try:
        return terminal.doing_now(directory).plain
    except (OSError, ValueError):  # somebody else works in the folder: the run itself goes on
        return "running"


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
