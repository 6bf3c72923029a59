"""Lesson ``devices``: which number names a device, what ``device_ids`` takes, and what a barrier does not prevent."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from barrier_lab import check, run_many
from barrier_lab.api import load
from barrier_lab.exercises.check import EXERCISES
from barrier_lab.script.source import SCRIPTS

TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]


@pytest.fixture(scope="module")
def runs() -> dict:
    """All variants, run at once."""
    variants = {
        "local": dict(experiment="devices", pause=0.2),
        "global": dict(experiment="devices", pause=0.2, number="global"),
        "without": dict(experiment="devices", pause=0.2, barrier=False),
        "none": dict(experiment="devices_slips"),
        "early": dict(experiment="devices_slips", slip="early"),
        "objects": dict(experiment="devices_slips", slip="objects"),
        "tuple": dict(experiment="devices_slips", slip="tuple"),
    }
    return dict(zip(variants, run_many(list(variants.values())), strict=True))


@pytest.fixture(scope="module")
def turns() -> list:
    return run_many([dict(experiment="devices_turns", barrier=barrier) for barrier in (True, False)])


def overlap(found) -> float:
    """For how long both ranks were at work."""
    begins = max(found.line(rank, "begins").t for rank in (0, 1))
    ends = min(found.line(rank, "ends").t for rank in (0, 1))
    return max(0.0, ends - begins)


def indices(found) -> list[int]:
    """The index that each rank asks for."""
    return [int(found.line(r.rank, "index").text.split("index ")[1].split(":")[0]) for r in found.ranks]


def test_all_tensors_are_made_before_any_rank_goes_on(runs):
    found = runs["local"]
    assert found.outcome == "completed"
    made = [found.line(rank, f"[{rank}, {rank + 1}, {rank + 2}]").t for rank in range(4)]
    assert max(made) < min(found.line(rank, "goes on").t for rank in range(4))


def test_without_the_barrier_rank_zero_goes_on_before_the_last_tensor_is_made(runs):
    found = runs["without"]
    assert found.line(0, "goes on").t < found.line(3, "index").t


def test_on_one_machine_local_and_global_rank_are_the_same_index(runs):
    assert indices(runs["local"]) == indices(runs["global"]) == [0, 1, 2, 3]


def test_on_two_machines_only_the_local_rank_is_an_index(tmp_path: Path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    job = ["--nnodes=2", "--nproc-per-node=2", "--master-addr=127.0.0.1", f"--master-port={port}"]
    script = [SCRIPTS / "devices.py", "--backend=gloo", "--number=global", f"--out={tmp_path / 'run'}"]
    nodes = [subprocess.Popen([*TORCHRUN, *job, f"--node-rank={n}", *script]) for n in (0, 1)]
    try:
        assert [node.wait(timeout=100) for node in nodes] == [0, 0]
    finally:
        for node in nodes:
            node.kill()
    found = load(tmp_path / "run")
    assert indices(found) == [0, 1, 2, 3]
    for rank, local_rank in enumerate([0, 1, 0, 1]):
        assert found.line(rank, f"local rank {local_rank},")


def test_a_list_of_one_whole_number_passes(runs):
    assert runs["none"].outcome == "completed"


@pytest.mark.parametrize(("slip", "error"), [("early", "ValueError"), ("objects", "TypeError")])
def test_a_rank_asked_too_early_and_a_device_object_are_errors(runs, slip: str, error: str):
    assert runs[slip].outcome == "failed"
    assert all(error in rank.error for rank in runs[slip].ranks)


def test_a_tuple_is_ignored_whatever_is_in_it(runs):
    assert runs["tuple"].outcome == "completed"


def test_a_barrier_makes_the_ranks_use_their_device_at_the_same_time(turns):
    together, apart = turns
    assert overlap(together) > 0
    assert overlap(apart) == 0


def test_ranks_that_share_a_device_compute_right_values_with_and_without_a_barrier(turns):
    assert [rank.result for found in turns for rank in found.ranks] == [True] * 4


@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ("[device.index]", "[device]", "crash"),
        ("rank % ranks_here", "rank", "wrong"),
        ("gpus >= ranks_here", "gpus >= world_size", "wrong"),
    ],
)
def test_each_mistake_of_the_exercise_is_found_by_itself(tmp_path: Path, old: str, new: str, outcome: str):
    solution = (EXERCISES / "solutions" / "devices.py").read_text()
    assert old in solution
    file = tmp_path / "mine.py"
    file.write_text(solution.replace(old, new))
    assert check("devices", file).outcome == outcome
