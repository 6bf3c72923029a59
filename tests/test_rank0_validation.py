"""Rank 0 validates alone: which forward passes call collectives, what stalls, what cures it, what a cure leaves."""

import itertools
from pathlib import Path

import pytest
from repairs import check_changed

from barrier_lab import run, run_many

CASE = {"experiment": "rank0_validation", "pause": 0.05, "deadline": 8.0}
CASES = list(itertools.product((True, False), (True, False), (1, 2)))  # buffers, grad, iterations
TWO = ["broadcast", "broadcast"]


@pytest.fixture(scope="module")
def cases() -> dict:
    """A run of each of the eight cases, all at once."""
    variants = [CASE | {"buffers": b, "grad": g, "iterations": i} for b, g, i in CASES]
    return dict(zip(CASES, run_many(variants), strict=True))


@pytest.fixture(scope="module")
def cured() -> dict:
    variants = {"module": {"unwrap": True}, "all": {"validate": "all ranks"}, "no barrier": {"barrier": False}}
    variants["four"] = {"world_size": 4, "unwrap": True}
    return dict(zip(variants, run_many([CASE | variant for variant in variants.values()]), strict=True))


@pytest.fixture(scope="module")
def witness():
    return run("rank0_validation_recorder", start_method="forkserver")


def seen(witness, kind: str, step: str) -> list[str]:
    return witness.line(0, f"{kind:9} | {step:26} |").text.split("|")[2].split()


def test_it_hangs_with_buffers_or_if_the_first_pass_with_gradients_after_backward_is_the_validation(cases):
    for (buffers, grad, iterations), case in cases.items():
        expected = "hung" if buffers or (grad and iterations == 1) else "completed"
        assert case.outcome == expected, (buffers, grad, iterations, case.verdict)


def test_rank_0_hangs_in_a_broadcast_of_its_forward_pass_and_the_other_in_the_barrier(cases):
    case = cases[True, False, 2]
    stuck = [next(span for span in case.spans(rank) if span.end is None) for rank in (0, 1)]
    assert [span.name for span in stuck] == ["broadcast", "barrier"]
    assert stuck[0].seq == stuck[1].seq
    source = Path(stuck[0].file).read_text().splitlines()
    assert "tested(" in source[stuck[0].line - 1]
    assert "in _sync_buffers" in (case.directory / "rank0.stack").read_text()
    made = f"broadcast made by DistributedDataParallel.forward (rank0_validation.py:{stuck[0].line}) on rank 0"
    assert made in case.verdict


@pytest.mark.parametrize("cure", ["module", "all", "four"])
def test_it_completes_through_the_module_or_on_all_ranks(cured, cure):
    assert cured[cure].outcome == "completed"
    counts = {len(cured[cure].spans(rank.rank, "broadcast")) for rank in cured[cure].ranks}
    assert len(counts) == 1


def test_without_any_barrier_rank_0_fails_in_the_same_broadcast(cured):
    assert cured["no barrier"].outcome == "failed"
    last = cured["no barrier"].spans(0)[-1]
    assert last.name == "broadcast" and "Connection" in last.error


def test_buffers_are_sent_in_each_forward_pass_but_one_after_a_pass_without_gradients(witness):
    assert seen(witness, "BatchNorm", "training forward 1") == seen(witness, "BatchNorm", "training forward 3") == TWO
    assert seen(witness, "BatchNorm", "eval, no grad, forward 1") == TWO
    assert seen(witness, "BatchNorm", "eval, no grad, forward 2") == []
    assert seen(witness, "BatchNorm", "eval, with grad, forward 2") == TWO


@pytest.mark.parametrize("kind", ["plain", "not sent"])
def test_without_buffers_to_send_only_the_rebuild_is_left(witness, kind):
    steps = [f"training forward {i}" for i in (1, 2, 3)]
    assert [seen(witness, kind, step) for step in steps] == [[], TWO, []]


def test_the_flight_recorder_and_this_recording_saw_the_same_collectives(witness):
    listed = " ".join(line.text.split("|")[2] for line in witness.ranks[0].output)
    assert listed.split() == [span.name for span in witness.spans(0)]


def test_in_training_mode_validation_changes_the_statistics_of_all_ranks():
    learns, leaves = run_many(
        [{"experiment": "rank0_validation_norm", "evaluate": evaluate} for evaluate in (False, True)]
    )
    assert learns.line(0, "after validation").text.endswith(" 10")
    assert learns.line(1, "after validation").text.endswith(" 0")
    assert learns.line(1, "after training again").text.endswith(" 9")
    assert all(line.text.endswith(" 0") for rank in leaves.ranks for line in rank.output)


# --- the exercise -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "outcome", "hint"),
    [
        ("            model.eval()\n", "", "wrong", "in which mode is the model"),
        ("            model.train()\n", "", "wrong", "in which mode is the model"),
        ("        dist.barrier()\n", "", "wrong", "meet once after each epoch"),
        ("        if rank == 0:\n", "        if False:\n", "wrong", "Keep the validation"),
    ],
    ids=["training mode", "training mode not restored", "without the barrier", "without validation"],
)
def test_a_repair_that_is_none_is_found_out(tmp_path: Path, old, new, outcome, hint):
    result = check_changed("rank0_validation", tmp_path, old, new)
    assert result.outcome == outcome
    assert hint in result.details
