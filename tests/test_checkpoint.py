"""Lesson ``checkpoint``: which barrier protects those who load, and what a rename and ``if rank == 0`` protect from."""

from pathlib import Path

import pytest
from repairs import check_changed

from barrier_lab import check, run, run_many
from barrier_lab.script.source import SCRIPTS

SAVE = dict(experiment="checkpoint", delay=0.8, late=0.4)
RENAME = dict(experiment="checkpoint_rename", delay=0.8)
DELETE = dict(experiment="checkpoint_delete", delay=0.5)
ALL = dict(experiment="checkpoint_all")
KEYS = dict(experiment="checkpoint_keys")
VARIANTS = {
    "before": SAVE,
    "none": SAVE | dict(before=False),
    "after": SAVE | dict(before=False, after=True, world_size=4),
    "both": SAVE | dict(after=True),
    "before, at once": SAVE | dict(late=0.0),
    "in place": RENAME | dict(rename=False, barrier=False),
    "renamed": RENAME | dict(barrier=False),
    "in place, then barrier": RENAME | dict(rename=False),
    "renamed, then barrier": RENAME,
    "deleted at once": DELETE | dict(barrier=False),
    "deleted when loaded": DELETE,
    "all save": ALL | dict(barrier=False),
    "all save together": ALL,
    "one saves": ALL | dict(only_rank_0=True),
    "keys": KEYS,
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict:
    """All variants, at once, each in a folder of its own."""
    variants = [variant | dict(folder=str(tmp_path_factory.mktemp("run"))) for variant in VARIANTS.values()]
    return dict(zip(VARIANTS, run_many(variants), strict=True))


def got(found) -> set[str]:
    """What the ranks other than rank 0 got when they loaded."""
    return {found.line(rank, "load").text for rank in range(1, found.trace.world_size)}


def test_a_barrier_before_the_save_lets_spawned_ranks_load_half_a_file(tmp_path: Path):
    found = run("checkpoint", delay=0.8, late=0.4, folder=str(tmp_path))
    assert found.line(1, "cannot load").t < found.line(0, "has saved").t


@pytest.mark.parametrize("name", ["before", "none", "before, at once"])
def test_without_a_barrier_after_the_save_the_others_cannot_load(runs, name):
    assert all("cannot load" in text for text in got(runs[name]))


@pytest.mark.parametrize("name", ["after", "both"])
def test_with_a_barrier_after_the_save_all_load_the_whole_file(runs, name):
    assert got(runs[name]) == {"loads epoch 1"}


def test_nobody_passes_the_barrier_after_the_save_before_the_file_is_whole(runs):
    saved = runs["after"].line(0, "has saved").t
    assert all(runs["after"].line(rank, "loads").t > saved for rank in (1, 2, 3))


def test_a_rename_keeps_half_a_file_from_being_seen_and_leaves_the_old_one(runs):
    assert "cannot load" in runs["in place"].line(1, "sees").text
    assert runs["renamed"].line(1, "sees").text == "sees model.part model.pt, loads epoch 1"


@pytest.mark.parametrize("name", ["in place, then barrier", "renamed, then barrier"])
def test_the_barrier_after_the_save_says_that_the_new_file_is_there(runs, name):
    assert runs[name].line(1, "sees").text == "sees model.pt, loads epoch 2"


def test_a_file_may_be_deleted_when_a_barrier_follows_the_loads(runs):
    assert runs["deleted at once"].line(1, "cannot load: FileNotFoundError")
    kept = runs["deleted when loaded"]
    assert kept.line(1, "loads epoch 1").t < kept.line(0, "has deleted it").t


def test_a_barrier_makes_the_writes_coincide_and_rank_zero_alone_writes_once(runs):
    def span(found, rank):
        return found.line(rank, "begins").t, found.line(rank, "has saved").t

    together = [span(runs["all save together"], rank) for rank in range(4)]
    assert max(begin for begin, _ in together) < min(end for _, end in together)
    apart = [span(runs["all save"], rank) for rank in range(4)]
    assert min(end for _, end in apart) < max(begin for begin, _ in apart)
    assert [rank for rank, line in runs["one saves"].lines() if "begins" in line.text] == [0]


def test_the_keys_of_the_wrapped_model_begin_with_module(runs):
    keys = {"wrapped": ["module.weight", "module.bias"], "inside": ["weight", "bias"]}
    assert [rank.result for rank in runs["keys"].ranks] == [keys] * 2


def test_a_saved_model_fits_only_a_model_that_is_wrapped_as_it_was(runs):
    for rank in runs["keys"].ranks:
        fits = [line.text for line in rank.output if line.text.startswith("loads into")]
        assert fits == ["loads into the wrapped model", "loads into a plain model"]


# --- the exercise -----------------------------------------------------------------------------------------

SOLUTION = SCRIPTS / "exercises" / "solutions" / "checkpoint.py"


@pytest.mark.parametrize(
    ("old", "new", "outcome", "hint"),
    [
        ("        dist.barrier()  # saved\n", "", "crash", "torch.load(path)"),
        ("dist.barrier()  # saved", "time.sleep(0.6 * (rank != 0))", "wrong", "Which call waits"),
    ],
    ids=["loaded too early", "sleeps"],
)
def test_a_repair_that_is_none_is_found_out(tmp_path: Path, old, new, outcome, hint):
    result = check_changed("checkpoint", tmp_path, old, new)
    assert result.outcome == outcome
    assert hint in result.details


def test_a_barrier_after_the_save_alone_lets_rank_zero_overwrite_too_early(tmp_path: Path):
    file = tmp_path / "mine.py"
    barrier = "        dist.barrier()  # all have loaded the epoch before\n"
    text = SOLUTION.read_text()
    assert barrier in text
    file.write_text(text.replace(barrier, ""))
    assert check("checkpoint", file).outcome in ("wrong", "crash")  # a later epoch, or half of it
