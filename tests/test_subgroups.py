"""Lesson ``subgroups``: wrong answers of its exercise."""

from pathlib import Path

import pytest
from repairs import check_changed


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
