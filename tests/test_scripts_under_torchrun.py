"""Experiments of each kind run under torchrun, and their traces say how they ended."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from left_over import torchrun

from barrier_lab.api import load
from barrier_lab.script.source import SCRIPTS

pytestmark = pytest.mark.slow
JOBS = {  # what is of its kind, with ranks, options, outcome, and a line that so many ranks print
    "first_barrier": ("it makes the group itself", 2, "--pause 0.1", "completed", ("reports as rank", 2)),
    "one_sided": ("it hangs", 2, "--fast 0.2 --slow 0.4 --deadline 2", "hung", None),
    "ordering_skip": ("it fails", 4, "--work 0.1 --deadline 3", "failed", None),
    "async_barrier": ("it has handles", 2, "--delay 0.3 --other 0.1", "completed", ("goes on", 2)),
    "checkpoint": ("it agrees on a folder", 2, "--before false --after true --delay 0.1 --late 0", "completed",
                   ("loads epoch 1", 1)),
    "subgroups": ("it makes groups", 4, "--pause 0.1", "completed", ("end", 4)),
    "rank0_validation": ("it uses DDP", 2, "--pause 0.1 --unwrap true", "completed", None),
}  # fmt: skip
AT_ONCE = 3  # jobs; each keeps a core busy for some seconds, and then sleeps


@pytest.fixture(scope="module")
def jobs(request, tmp_path_factory) -> dict:
    """The jobs that this session asks for, run a few at once: each one's directory and finished process."""
    asked = [item.callspec.params["name"] for item in request.session.items if "jobs" in item.fixturenames]
    folders = {name: tmp_path_factory.mktemp(name) for name in asked}

    def start(name: str):
        _, ranks, options, _, _ = JOBS[name]
        return torchrun(SCRIPTS / f"{name}.py", "--out", folders[name] / "run", *options.split(), ranks=ranks)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return {name: (folders[name] / "run", done) for name, done in zip(asked, pool.map(start, asked), strict=True)}


@pytest.mark.parametrize("name", JOBS)
def test_an_experiment_runs_under_torchrun(jobs, name: str):
    directory, done = jobs[name]
    _, ranks, _, outcome, printed = JOBS[name]
    run = load(directory)
    assert (run.outcome, len(run.ranks)) == (outcome, ranks), done.stderr
    assert (done.returncode == 0) == (run.outcome == "completed")
    if printed:
        text, count = printed
        assert done.stdout.count(text) == count
