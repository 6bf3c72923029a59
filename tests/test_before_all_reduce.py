"""Lesson ``before_all_reduce``: wrong answers of its exercise."""

from pathlib import Path

import pytest
from repairs import check_changed


@pytest.mark.parametrize(
    ("old", "new", "outcome", "hint"),
    [
        ("2 * votes.item() > world_size", "votes.item() > 0", "wrong", "Every rank must see the same count"),
        ("        votes =", "        dist.barrier()\n        votes =", "wrong", "What would a barrier add?"),
        ("        dist.all_reduce(gradient)\n", "", "wrong", "of the gradient stays as it is"),
    ],
    ids=["one vote is enough", "with a barrier", "without the gradient"],
)
def test_a_repair_that_is_none_is_found_out(tmp_path: Path, old, new, outcome, hint):
    result = check_changed("before_all_reduce", tmp_path, old, new)
    assert result.outcome == outcome
    assert hint in result.details
