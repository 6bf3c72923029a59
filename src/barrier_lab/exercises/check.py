"""Check a learner's file: does it import, does it finish, is it right?

An exercise NAME is the folder ``scripts/exercises/NAME`` with the stub ``NAME.py``, which learners edit, a solution
``solution.py``, and ``check.py``, which defines how to run the worker and what is right:

    RUNS = [dict(world_size=2), dict(world_size=4, slow_rank=0)]   # arguments of run; "deadline" defaults to 10 s

    def judge(run):                                                # called for each run
        expect.values(run, lambda rank, world_size: world_size, hint="Every rank gets the sum, not only rank 0.")

The learner's code runs only in separate processes, under a deadline: it may hang, crash or print endlessly.
"""

import html
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from barrier_lab import trace
from barrier_lab.errors import UsageError
from barrier_lab.exercises import expect
from barrier_lab.exercises.failure_report import crash_lines, hang_lines
from barrier_lab.script import source

EXERCISES = source.SCRIPTS / "exercises"
DEADLINE = 10.0  # default, in seconds after the common start
IMPORT_LIMIT = 60.0  # seconds within which all ranks must have imported the file and reached the common start
EXIT = {"right": 0, "wrong": 1, "hang": 3, "crash": 4}
INTERRUPTED = 130


@dataclass
class Result:
    """The result of ``check``: "right", "wrong", "hang" or "crash", and why."""

    exercise: str
    file: Path
    outcome: str
    steps: list[tuple[str, str]]  # question, answer
    details: str  # lines, traceback, or what was expected
    run: trace.Trace | None  # the last run, without its files

    @property
    def exit_code(self) -> int:
        """0 for right, 1 for wrong, 3 for hang, 4 for crash."""
        return EXIT[self.outcome]

    def __str__(self) -> str:
        steps = [f"  {question:<17} {answer}" for question, answer in self.steps]
        details = [f"    {line}".rstrip() for line in self.details.splitlines()]
        return "\n".join([f"Exercise {self.exercise}, {self.file.name}: {self.outcome}", *steps, *details])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The text as HTML, with the timeline of the run unless the result is "right"."""
        text = f'<pre class="bl-check bl-{self.outcome}" tabindex="0">{html.escape(str(self))}</pre>'
        if self.outcome == "right" or self.run is None or not any(rank.started for rank in self.run.ranks):
            return text
        from barrier_lab import timeline

        return text + timeline.html(self.run)


def check(name: str, file: str | Path | None = None) -> Result:
    """Run a solution of an exercise (default: the exercise's stub file) and check whether it is right.

    Raises ``UsageError`` if there is no such exercise or file.
    """
    spec = load_check(name)
    path = source.find(file if file is not None else EXERCISES / name / f"{name}.py")
    runs = getattr(spec, "RUNS", [{}])
    for variant in runs:
        result = _check_run(name, path, spec, variant, f" ({_said(variant)})" if len(runs) > 1 else "")
        if result.outcome != "right":
            return result
    return result


def main(name: str, file: str | None = None) -> int:
    """Entry point of ``python -m barrier_lab check NAME [FILE]``: print the result and return the exit code."""
    try:
        result = check(name, file)
    except KeyboardInterrupt:
        print("The check was interrupted.", file=sys.stderr)
        return INTERRUPTED
    print(result)
    return result.exit_code


def names() -> list[str]:
    """The names of all exercises."""
    return sorted(path.parent.name for path in EXERCISES.glob("*/check.py"))


def load_check(name: str) -> ModuleType:
    """Load the check of an exercise as a module.  Raises ``UsageError`` if there is no such exercise."""
    path = EXERCISES / name / "check.py"
    if not str(name).isidentifier() or not path.is_file():
        known = ", ".join(names()) or "those in the files of the book"
        raise UsageError(f"There is no exercise {name!r}: choose one of {known}.")
    spec = ModuleType(f"check_{name}")
    exec(compile(path.read_text(), str(path), "exec"), spec.__dict__)
    return spec


def _check_run(name: str, path: Path, spec: ModuleType, variant: dict, where: str) -> Result:
    """Run one variant and judge it."""
    with tempfile.TemporaryDirectory(prefix="barrier_lab-", ignore_cleanup_errors=True) as folder:
        variant = {key: _fresh(folder, key) if value == expect.FRESH else value for key, value in variant.items()}
        run, refusal = _execute(path, variant, Path(folder) / "run")
        facts = run.trace if run else None

        def result(outcome: str, steps: list[str], details: str) -> Result:
            questions = ("Does it import?", "Does it finish?", "Is it right?")
            return Result(name, path, outcome, list(zip(questions, steps, strict=False)), details, facts)

        if run is None or not all(rank.started for rank in facts.ranks):
            hangs = run is not None and run.outcome == "interrupted"
            details = refusal or (hang_lines(facts) if hangs else crash_lines(facts))
            if hangs:
                return result("hang", [f"no: not in {IMPORT_LIMIT:.0f} s."], details)
            return result("crash", ["no."], details)
        if run.outcome == "hung":
            steps = ["yes.", f"no{where}: it was stopped after {facts.deadline:g} s."]
            return result("hang", steps, f"{hang_lines(facts)}\n\n{run.verdict}")
        if run.outcome == "failed":
            return result("crash", ["yes.", f"no{where}: it fails."], crash_lines(facts))
        try:
            spec.judge(run)
        except expect.Wrong as wrong:
            details = f"Expected: {wrong.expected}.\nBut {wrong.had}.\nHint: {wrong.hint}"
        except Exception as error:  # the returned values may have any type
            details = f"The check could not use what the ranks returned: {type(error).__name__}: {error}"
        else:
            return result("right", ["yes.", "yes.", "yes."], "")
        return result("wrong", ["yes.", "yes.", f"no{where}."], details)


def _execute(path: Path, variant: dict, directory: Path):
    """Run a variant.  Returns (run, None), or (None, message) if the file was rejected before any rank ran."""
    from barrier_lab import api
    from barrier_lab.planning.prepare import OPTIONS

    options = {key: variant[key] for key in variant if key in OPTIONS}
    parameters = {key: variant[key] for key in variant if key not in OPTIONS}
    cancel = threading.Event()
    limit = time.monotonic() + IMPORT_LIMIT

    def watch(_: Path) -> None:
        nonlocal limit
        if time.monotonic() > limit:
            limit = float("inf")
            if not all(rank.started for rank in trace.read(directory).ranks):
                cancel.set()

    try:
        run = api.execute(
            path,
            **{"deadline": DEADLINE, "start_method": "forkserver"} | options,
            out=directory,
            parameters=parameters,
            on_tick=watch,
            cancel=cancel,
        )
    except UsageError as error:
        if not (directory / "run.json").exists():
            return None, str(error)
        run = api.load(directory)  # a rank failed to import the file; its trace has the traceback
    if run.outcome == "interrupted" and not cancel.is_set():
        raise KeyboardInterrupt
    return run, None


def _fresh(folder: str, key: str) -> str:
    path = Path(folder) / "fresh" / key
    path.mkdir(parents=True)
    return str(path)


def _said(variant: dict) -> str:
    """The arguments of a run, without those that are irrelevant to the exercise."""
    quiet = ("deadline", "timeout", "start_method", "backend")
    shown = [f"{key} = {value!r}" for key, value in variant.items() if key not in quiet and value != expect.FRESH]
    return f"with {', '.join(shown)}" if shown else "as it stands"
