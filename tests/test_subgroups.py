"""Lesson ``subgroups``: wrong answers of its exercise."""

from pathlib import Path

import pytest
from repairs import check_changed

from barrier_lab import run
from barrier_lab.exercises import expect
from barrier_lab.exercises.check import EXERCISES, load_check

MACHINES = "    machines = [dist.new_group(list(range(first, first + per_machine))) for first in all_leaders]\n"
LEADERS = "    leaders = dist.new_group(all_leaders)\n"
ADD = "    if rank == leader:\n"


@pytest.mark.parametrize(
    ("old", "new", "outcome", "hint"),
    [
        (", group=leaders)", ")", "hang", "dist.all_reduce(total)"),
        (
            LEADERS + MACHINES + ADD,
            MACHINES + ADD + "    " + LEADERS,
            "hang",
            "these were paired, and they make different groups",
        ),
        ("        dist.all_reduce(total, group=leaders)\n", "        pass\n", "wrong", "add their numbers"),
    ],
    ids=["on the default group", "leaders make theirs alone, after the others", "without the sum"],
)
def test_a_repair_that_is_none_is_found_out(tmp_path: Path, old, new, outcome, hint):
    result = check_changed("subgroups", tmp_path, old, new)
    assert result.outcome == outcome
    assert hint in result.details


def test_machines_that_make_their_own_group_only_are_found_out_even_where_it_goes_well(tmp_path: Path):
    text = (EXERCISES / "subgroups" / "solution.py").read_text()
    assert MACHINES in text
    file = tmp_path / "mine.py"
    file.write_text(text.replace(MACHINES, "    machines = [dist.new_group([leader])] * 2\n"))
    # With one rank a machine nobody can take a stranger for a member: it goes well on every machine.
    lucky = run(file, world_size=2, per_machine=1, start_method="forkserver")
    assert [rank.result for rank in lucky.ranks] == [3.0, 3.0]
    with pytest.raises(expect.Wrong, match="a name of its own for the group of each machine"):
        load_check("subgroups").judge(lucky)
