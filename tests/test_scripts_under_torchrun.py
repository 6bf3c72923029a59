"""Every experiment of the book runs under torchrun, and its traces say how it ended."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from left_over import torchrun

from barrier_lab.api import load
from barrier_lab.script.source import SCRIPTS

JOBS = {  # ranks, options, outcome
    "api": (2, "--late 0.2", "completed"),
    "async_barrier": (2, "--delay 0.3 --other 0.1", "completed"),
    "async_barrier_probe": (2, "--delay 0.3 --patience 0.1", "completed"),
    "before_all_reduce": (2, "--delay 0.1 --barrier false", "completed"),
    "before_all_reduce_flag": (2, "--how all_reduce", "completed"),
    "before_all_reduce_stop": (2, "--agree any --epoch-time 0.05", "completed"),
    "before_all_reduce_wait": (2, "--delay 0.1", "completed"),
    "checkpoint": (2, "--before false --after true --delay 0.1 --late 0", "completed"),
    "checkpoint_all": (2, "--only-rank-0 true --delay 0.1", "completed"),
    "checkpoint_delete": (2, "--delay 0.1", "completed"),
    "checkpoint_keys": (2, "", "completed"),
    "checkpoint_rename": (2, "--delay 0.1", "completed"),
    "cost": (2, "--work 0.05 --delay 0.1", "completed"),
    "cost_call": (2, "--rounds 1", "completed"),
    "ddp_training": (2, "--epochs 1", "completed"),
    "ddp_training_cost": (2, "--batches 1", "completed"),
    "ddp_training_uneven": (2, "--cure join", "completed"),
    "devices": (2, "--pause 0.1", "completed"),
    "devices_slips": (1, "", "completed"),
    "devices_turns": (1, "", "completed"),
    "first_barrier": (2, "--pause 0.1", "completed"),
    "one_sided": (2, "--fast 0.2 --slow 0.4 --deadline 2", "hung"),
    "one_sided_monitored": (4, "--patience 0.5 --busy 1.5", "completed"),
    "one_sided_poisoned": (2, "--patience 0.5 --late 1 --pause 0.2", "completed"),
    "one_sided_stack": (4, "--patience 0.5 --busy 1.5", "completed"),
    "ordering": (2, "--pause 0.1", "completed"),
    "ordering_mixed": (2, "--deadline 2", "hung"),
    "ordering_print": (2, "--late 0.2", "completed"),
    "ordering_skip": (4, "--work 0.1 --deadline 3", "failed"),
    "parallel": (2, "--rounds 1", "completed"),
    "ports_and_orphans": (2, "--folder {folder}", "completed"),
    "processes": (2, "--slow-rank 1 --delay 0.2", "completed"),
    "processes_leave": (2, "--meet init", "completed"),
    "processes_threads": (2, "--steps 1000", "completed"),
    "rank0_validation": (2, "--pause 0.1 --unwrap true", "completed"),
    "rank0_validation_norm": (2, "", "completed"),
    "rank0_validation_recorder": (2, "", "completed"),
    "sampler": (2, "--samples 80", "completed"),
    "sampler_validation": (2, "--samples 9", "completed"),
    "shared_folder": (2, "--late 0.1", "completed"),
    "slowest_rank": (2, "--delay 0.3", "completed"),
    "subgroups": (4, "--pause 0.1", "completed"),
    "subgroups_else": (4, "--patience 0.5 --deadline 3", "completed|failed|hung"),  # which of them is left to chance
    "subgroups_skip": (4, "--skip false", "completed"),
    "zero_first": (4, "", "completed"),
    "zero_first_collective": (4, "--deadline 2", "hung"),
    "zero_first_rename": (4, "", "failed"),
    "zero_first_told": (4, "", "completed"),
    "zero_first_trouble": (4, "", "failed"),
    "zero_first_which": (4, "--group false", "completed"),
}


PRINTED = {  # a line that these print, and on how many ranks
    "before_all_reduce": ("sum [9, 18, 7]", 2),
    "before_all_reduce_flag": ("stop is True", 2),
    "before_all_reduce_stop": ("stops after epoch 2", 2),
    "before_all_reduce_wait": ("has the sum [3, 3, 3]", 2),
    "checkpoint": ("loads epoch 1", 1),
    "checkpoint_all": ("begins to save", 1),
    "checkpoint_delete": ("has deleted it", 1),
    "checkpoint_keys": ("loads into a plain model", 2),
    "checkpoint_rename": ("sees model.pt, loads epoch 2", 1),
}
AT_ONCE = 3  # jobs; each keeps a core busy for some seconds, and then sleeps


@pytest.fixture(scope="module")
def jobs(request, tmp_path_factory) -> dict:
    """The jobs that this session asks for, run a few at once: each one's directory and finished process."""
    asked = [item.callspec.params["name"] for item in request.session.items if "jobs" in item.fixturenames]
    folders = {name: tmp_path_factory.mktemp(name) for name in asked}

    def start(name: str):
        ranks, options, _ = JOBS[name]
        options = options.format(folder=folders[name]).split()
        return torchrun(SCRIPTS / f"{name}.py", "--out", folders[name] / "run", *options, ranks=ranks)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return {name: (folders[name] / "run", done) for name, done in zip(asked, pool.map(start, asked), strict=True)}


def test_no_experiment_is_left_out():
    assert sorted(JOBS) == sorted(path.stem for path in SCRIPTS.glob("*.py"))


@pytest.mark.parametrize("name", JOBS)
def test_an_experiment_runs_under_torchrun(jobs, name: str):
    directory, done = jobs[name]
    ranks, _, outcome = JOBS[name]
    run = load(directory)
    assert run.outcome in outcome.split("|"), done.stderr
    assert len(run.ranks) == ranks
    assert (done.returncode == 0) == (run.outcome == "completed")
    if name in PRINTED:
        text, count = PRINTED[name]
        assert done.stdout.count(text) == count
