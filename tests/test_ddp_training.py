"""Lesson ``ddp_training``: equal weights without a barrier, what a barrier a batch costs, and uneven batches."""

import os
import subprocess
import sys

import pytest
import torch
from left_over import torchrun

from barrier_lab import run_many
from barrier_lab.api import load
from barrier_lab.script.source import SCRIPTS

UNEVEN = dict(experiment="ddp_training_uneven", deadline=3)
VARIANTS = {
    "two": dict(experiment="ddp_training"),
    "met": dict(experiment="ddp_training", barrier=True),
    "alone": dict(experiment="ddp_training", ddp=False),
    "fast": dict(experiment="ddp_training_cost"),
    "slow": dict(experiment="ddp_training_cost", barrier=True),
    "stuck": UNEVEN,
    "left": UNEVEN | dict(barrier=False),
    "joined": UNEVEN | dict(cure="join", deadline=20),
    "agreed": UNEVEN | dict(cure="agree", deadline=20),
}


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    return tmp_path_factory.mktemp("checkpoints")


@pytest.fixture(scope="module")
def runs(checkpoints) -> dict:
    """One run of each variant, all at once."""
    variants = VARIANTS | {"two": VARIANTS["two"] | dict(folder=str(checkpoints))}
    return dict(zip(variants, run_many(list(variants.values())), strict=True))


def results(found) -> list:
    return [rank.result for rank in found.ranks]


def test_weights_are_equal_on_all_ranks_from_the_wrapping_on_without_a_barrier(runs):
    first, second = (rank.result["weights"] for rank in runs["two"].ranks)
    assert first[0] != second[0]
    assert first[1:] == second[1:]
    assert first[1] == first[0]
    assert runs["two"].spans(name="barrier") == []


def test_each_step_has_one_all_reduce_on_each_rank(runs):
    for rank in runs["two"].ranks:
        steps = len(rank.result["losses"])
        assert steps == 3 * 16
        assert len(runs["two"].spans(rank.rank, "all_reduce")) == steps


def test_ranks_without_ddp_go_their_own_ways(runs):
    first, second = (rank.result["weights"][-1] for rank in runs["alone"].ranks)
    assert first != second
    assert [span.name for span in runs["alone"].spans() if span.kind == "collective"] == []


def test_a_barrier_for_each_batch_changes_no_loss_and_no_weight(runs):
    assert results(runs["met"]) == results(runs["two"])
    assert len(runs["met"].spans(0, "barrier")) == 3 * 16


def test_a_barrier_for_each_batch_makes_the_two_pauses_add_up(runs):
    assert results(runs["fast"]) == results(runs["slow"])
    took = {name: max(rank.ended for rank in runs[name].ranks) for name in ("fast", "slow")}
    assert took["slow"] > 2 * 4 * 0.25  # what is slept in turn
    assert took["slow"] > took["fast"]


def test_rank_zero_saves_the_model_after_each_epoch(runs, checkpoints):
    assert sorted(path.name for path in checkpoints.iterdir()) == ["epoch0.pt", "epoch1.pt", "epoch2.pt"]
    state = torch.load(checkpoints / "epoch2.pt")
    saved = torch.cat([state["weight"].flatten(), state["bias"]]).tolist()
    assert saved == runs["two"].ranks[1].result["weights"][-1]


def test_a_barrier_at_the_end_is_paired_with_the_backward_of_the_others(runs):
    last = [runs["stuck"].spans(rank)[-1] for rank in range(3)]
    assert runs["stuck"].outcome == "hung"
    assert [span.name for span in last] == ["all_reduce", "all_reduce", "barrier"]
    assert len({span.seq for span in last}) == 1


def test_without_that_barrier_the_rank_leaves_and_the_others_fail(runs):
    assert runs["left"].outcome == "failed"
    assert [rank.error is None for rank in runs["left"].ranks] == [False, False, True]


def test_join_leaves_no_batch_out_and_agreeing_does(runs):
    assert runs["joined"].outcome == runs["agreed"].outcome == "completed"
    assert results(runs["joined"]) == [4, 4, 2]
    assert results(runs["agreed"]) == [2, 2, 2]
    assert len({len(runs["joined"].spans(rank, "all_reduce")) for rank in range(3)}) == 1


@pytest.mark.parametrize("arguments", [[], ["2"]], ids=["no GPU", "two processes"])
def test_spawn_without_a_gpu_starts_nothing_and_says_nothing(arguments):
    command = [sys.executable, SCRIPTS / "raw" / "ddp_training.py", *arguments]
    hidden = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, env=hidden, capture_output=True, text=True, timeout=120, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == (2 if arguments else 0)
    assert len({line.split()[-1] for line in lines}) == (1 if arguments else 0)  # the sums of the weights


def test_torchrun_and_spawn_give_the_same_losses_and_weights(tmp_path, runs):
    done = torchrun(SCRIPTS / "ddp_training.py", "--epochs=3", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert results(load(tmp_path)) == results(runs["two"])
