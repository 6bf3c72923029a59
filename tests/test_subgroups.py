"""Barriers of a part of the ranks: who waits, who does not, and who has to make the group."""

import linecache
from pathlib import Path

import pytest
from repairs import check_changed

from barrier_lab import run_many

VARIANTS = {
    "pairs": {"experiment": "subgroups"},
    "outsiders": {"experiment": "subgroups", "first": True},
    "no barrier": {"experiment": "subgroups", "barrier": False},
    "skipped": {"experiment": "subgroups_skip"},
    "by all": {"experiment": "subgroups_skip", "skip": False},
    "local": {"experiment": "subgroups_skip", "local": True},
    "both local": {"experiment": "subgroups_skip", "local": True, "local_too": True},
}


@pytest.fixture(scope="module")
def runs() -> dict:
    """One run of each variant, all at once."""
    return dict(zip(VARIANTS, run_many(list(VARIANTS.values())), strict=True))


def at(run, rank: int, text: str) -> float:
    return run.line(rank, text).t


def test_a_barrier_on_a_group_waits_for_its_members_only(runs):
    pairs = runs["pairs"]
    assert at(pairs, 1, "before") < at(pairs, 0, "after") < at(pairs, 3, "before") < at(pairs, 2, "after")
    assert all(at(pairs, rank, "end") > at(pairs, 3, "before") for rank in range(4))


def test_every_group_counts_its_own_collectives(runs):
    calls = runs["pairs"].spans(name="barrier")
    assert {call.seq for call in calls} == {1}
    assert {call.group for call in calls} == {"1", "2", "default"}


def test_a_rank_that_is_no_member_is_warned_and_goes_on(runs):
    outsiders = runs["outsiders"]
    for rank in (2, 3):
        assert "does not belong to the given group" in outsiders.line(rank, "UserWarning").text
        assert [call.group for call in outsiders.spans(rank, "barrier")] == ["default"]
    assert at(outsiders, 2, "after") < at(outsiders, 3, "before")


def test_groups_alone_hold_nobody(runs):
    without = runs["no barrier"]
    assert without.spans(name="barrier") == []
    assert at(without, 0, "after") < at(without, 1, "before")


def test_a_group_that_others_skipped_works_and_the_next_one_fails(runs):
    skipped = runs["skipped"]
    assert skipped.outcome == "failed"
    for rank in (0, 1):
        assert skipped.line(rank, "the pair has met")
        place = skipped.ranks[rank].error_at
        assert "everybody = dist.new_group" in linecache.getline(place.file, place.line)
    assert "everybody has met" not in skipped.text


def test_groups_that_all_ranks_make_have_the_same_names_everywhere(runs):
    made = runs["by all"]
    assert made.outcome == "completed"
    assert all(made.line(rank, "the pair has met: group 1") for rank in (0, 1))
    assert all(made.line(rank, "everybody has met: group 2") for rank in range(4))


def test_with_local_synchronisation_only_the_members_need_to_make_a_group(runs):
    assert runs["local"].outcome == "completed"
    assert all(runs["local"].line(rank, "everybody has met: group 1") for rank in range(4))


def test_with_local_synchronisation_all_members_must_be_in_equally_many_groups(runs):
    both = runs["both local"]
    assert both.outcome == "failed"
    assert all(both.line(rank, "the pair has met") for rank in (0, 1))
    assert "everybody has met" not in both.text


def test_two_groups_made_in_two_branches_have_one_name():
    runs = run_many([{"experiment": "subgroups_else", "deadline": 8.0}] * 2)
    made = [line.text for run in runs for _, line in run.lines() if "made group" in line.text]
    assert made and {text.split()[-1] for text in made} == {"1"}


# --- the exercise -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        (", group=leaders)", ")", None),
        ("        dist.all_reduce(total, group=leaders)\n", "        pass\n", "add their numbers"),
    ],
    ids=["on the default group", "without the sum"],
)
def test_a_repair_that_is_none_is_found_out(tmp_path: Path, old: str, new: str, hint: str | None):
    result = check_changed("subgroups", tmp_path, old, new)
    assert result.outcome == ("wrong" if hint else "hang")
    assert hint is None or hint in result.details


MACHINES = "    machines = [dist.new_group(list(range(first, first + per_machine))) for first in all_leaders]\n"
LEADERS = "    leaders = dist.new_group(all_leaders)\n"
ADD = "    if rank == leader:\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (MACHINES, "    machines = [dist.new_group(list(range(leader, leader + per_machine)))] * 2\n"),
        (LEADERS + MACHINES + ADD, MACHINES + ADD + "    " + LEADERS),
    ],
    ids=["machines make their own group only", "leaders make theirs alone, after the others"],
)
def test_a_repair_that_goes_well_by_chance_is_never_right(tmp_path: Path, old: str, new: str):
    assert check_changed("subgroups", tmp_path, old, new).outcome in ("wrong", "hang", "crash")
