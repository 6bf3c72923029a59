"""The scripts as the lessons start them, how each run must end whatever else the machine does, and what it must print.

A variant is (parameters, outcomes): several outcomes, with a bar between them, where chance decides.
"""

import tempfile
from collections import Counter
from pathlib import Path

from barrier_lab import Run, run_many
from barrier_lab.script.source import SCRIPTS

AT_ONCE = 4
FOLDER = "\0folder"  # as a value: a new, empty folder for each run
ANY = "completed|failed|hung"

Variant = tuple[dict, str]
IN_A_FOLDER = {"folder": FOLDER}


def _all(parameters: list[dict], outcome: str = "completed") -> list[Variant]:
    return [(one, outcome) for one in parameters]


SHORT = {"fast": 0.2, "slow": 0.5}
STOP = {"epoch_time": 0.05}
DDP = {"pause": 0.1, "iterations": 2}
VARIANTS: dict[str, list[Variant]] = {
    "api": _all([{"case": "blocking"}, {"case": "async_op"}, {"case": "outside"}, {"case": "timeout"}]),
    "async_barrier": _all([{}, {"when": "before"}, {"when": "after"}, {"barrier": False}, {"wait": False}]),
    "async_barrier_probe": [({}, "completed"), ({"leaves": True}, "failed")],
    "before_all_reduce": _all([{"delay": 0.5}, {"delay": 0.5, "barrier": False}, {"slow_rank": -1, "world_size": 4}]),
    "before_all_reduce_flag": _all([{"how": how, "world_size": 4} for how in ("barrier", "broadcast", "all_reduce")]),
    "before_all_reduce_stop": [
        *_all([STOP | {"agree": how} for how in ("any", "all", "rank 0")]),
        *_all([STOP | {"agree": how, "deadline": 3} for how in ("alone", "barrier")], "hung"),
    ],
    "before_all_reduce_wait": _all([{"delay": 0.5}, {"delay": 0.5, "barrier": True}]),
    "checkpoint": _all([{}, {"before": False, "after": True, "world_size": 3} | IN_A_FOLDER, {"before": False}]),
    "checkpoint_all": _all([{}, {"barrier": False}, {"only_rank_0": True}]),
    "checkpoint_delete": _all([{}, {"barrier": False}]),
    "checkpoint_keys": _all([{}]),
    "checkpoint_rename": _all(
        [{"rename": rename, "barrier": meet} for rename in (True, False) for meet in (True, False)]
    ),
    "cost": _all([{"work": 0.05, "delay": 0.1}, {"work": 0.05, "barrier": False}, {"work": 0.05, "all_reduce": True}]),
    "cost_call": _all([{"rounds": 1}, {"rounds": 1, "barrier": False, "world_size": 2}]),
    "ddp_training": _all([{}, {"ddp": False}, {"barrier": True}, {"world_size": 4}]),
    "ddp_training_cost": _all([{}, {"barrier": True}]),
    "ddp_training_uneven": [
        *_all([{"cure": "join"}, {"cure": "agree"}]),
        ({"barrier": False}, "failed"),
        ({"deadline": 6}, "hung"),
    ],
    "devices": _all([{"pause": 0.2}, {"pause": 0.2, "barrier": False}, {"pause": 0.2, "number": "global"}]),
    "devices_slips": [*_all([{}, {"slip": "tuple"}]), *_all([{"slip": "early"}, {"slip": "objects"}], "failed")],
    "devices_turns": _all([{"pause": 0.5, "work": 0.2}, {"pause": 0.5, "work": 0.2, "barrier": False}]),
    "first_barrier": _all([{"pause": 0.05}, {"barrier": False}, {"world_size": 4, "pause": 0.0, "barrier": False}]),
    "one_sided": [
        *_all([SHORT | {"peer": "comes"}, SHORT | {"barrier": False, "busy": 1.0}]),
        *_all([SHORT | {"peer": "exits"}, SHORT | {"peer": "killed"}, SHORT | {"busy": 1.0}], "failed"),
        (SHORT | {"timeout": 3}, "failed"),
        (SHORT | {"deadline": 3}, "hung"),
    ],
    "one_sided_monitored": _all([{}, {"missing": -1, "also": -1}, {"missing": 0, "also": -1}]),
    "one_sided_poisoned": _all([{}]),
    "one_sided_stack": _all([{}]),
    "ordering": _all([{"pause": 0.3}, {"world_size": 4}, {"barrier": False}]),
    "ordering_mixed": [({"swapped": False}, "completed"), ({"deadline": 3}, "hung")],
    "ordering_print": _all([{}]),
    "ordering_skip": [({"work": 0.1, "skip_rank": -1}, "completed"), ({"work": 0.1}, "failed")],
    "parallel": _all([{"rounds": 1}, {"rounds": 1, "switch": 60}]),
    "ports_and_orphans": [*_all([{"opens": False}, IN_A_FOLDER]), ({}, "failed")],
    "processes": _all([{}, {"delay": 0.0}, {"barrier": False}, {"delay": 0.0, "setup": 0.8, "barrier": False}]),
    "processes_leave": [({}, "completed|failed"), *_all([{"meet": "init"}, {"meet": "barrier"}])],
    "processes_threads": _all([{"steps": 100_000}, {"steps": 100_000, "world_size": 1, "threads": 2}]),
    "rank0_validation": [
        *_all([DDP | {"unwrap": True}, DDP | {"validate": "all ranks"}, DDP | {"buffers": False}]),
        (DDP | {"barrier": False}, "failed"),
        (DDP | {"deadline": 5}, "hung"),
    ],
    "rank0_validation_norm": _all([{}, {"evaluate": True}]),
    "rank0_validation_recorder": _all([{}]),
    "sampler": _all([{}, {"epochs": 2, "shuffle": True, "barrier": True}]),
    "sampler_validation": _all([{}, {"world_size": 8}]),
    "shared_folder": _all([{}, {"world_size": 4, "late": 0.0}]),
    "slowest_rank": _all([{"delay": 1.0}, {"delay": 0.05, "rounds": 51}, {"delay": 1.0, "barrier": False}]),
    "subgroups": _all([{}, {"first": True}, {"barrier": False}, {"barrier": False, "pause": 0.0}]),
    "subgroups_else": _all([{"deadline": 8}], ANY),
    "subgroups_skip": [
        *_all([{"skip": False}, {"local": True}]),
        *_all([{}, {"local": True, "local_too": True}], "failed"),
    ],
    "zero_first": [*_all([{}, {"barrier": False}, {"late": 1.5}, IN_A_FOLDER]), ({"timeout": 1.0}, "failed")],
    "zero_first_collective": _all([{"deadline": 3}], "hung"),
    "zero_first_rename": _all([{}, {"rename": True}], "failed") + _all([{"dies": False}]),
    "zero_first_told": _all([{}]),
    "zero_first_trouble": [
        ({"caught": True}, "completed"),
        *_all([{}, {"use_finally": False}], "failed"),
        ({"caught": True, "use_finally": False, "deadline": 4}, "hung"),
    ],
    "zero_first_which": _all([{}, {"variable": "local_rank"}, {"group": False, "nodes": 1, "one_disk": True}]),
}


def variants() -> dict[str, list[Variant]]:
    """Those of all scripts; one that is not in the table runs as it is, and completes."""
    return {path.stem: VARIANTS.get(path.stem, [({}, "completed")]) for path in sorted(SCRIPTS.glob("*.py"))}


def check(name: str, variant: Variant, runs: int) -> tuple[str, list[str]]:
    """Run a variant many times, some at once: its title, and a sentence for each run that ended otherwise."""
    parameters, outcomes = variant
    title = f"{name} {' '.join(f'{key}={value}' for key, value in parameters.items() if value != FOLDER)}".strip()
    failed = []
    for first in range(0, runs, AT_ONCE):
        with tempfile.TemporaryDirectory(prefix="stress-") as folder:
            count = min(AT_ONCE, runs - first)
            asked = [{"experiment": name} | _filled(parameters, Path(folder) / str(number)) for number in range(count)]
            try:
                done = run_many(asked)
            except Exception as error:  # the lab's own failure
                failed.append(f"run_many: {type(error).__name__}: {str(error)[:300]}")
                continue
            failed += [said for run in done if (said := _otherwise(run, outcomes.split("|")))]
    return title, failed


def _filled(parameters: dict, folder: Path) -> dict:
    if FOLDER in parameters.values():
        folder.mkdir()
    return {key: str(folder) if value == FOLDER else value for key, value in parameters.items()}


def _otherwise(run: Run, outcomes: list[str]) -> str | None:
    """How the run ended, if it should have ended otherwise."""
    if run.outcome in outcomes:
        return None
    errors = Counter((rank.error or "no error").splitlines()[-1][:160] for rank in run.ranks)
    return f"{run.outcome}, not {' or '.join(outcomes)}: {run.verdict} {dict(errors)}"
