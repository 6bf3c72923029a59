"""Lesson ``processes``: wrong answers of its exercise."""

from pathlib import Path

import pytest
from repairs import check_changed


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("rank::world_size", "0::2", "How many processes share the files"),
        ('"gloo")\n', '"gloo")\n    dist.barrier()\n', "Is a barrier needed"),
        ("    dist.all_reduce(total)\n", "", "Keep the all_reduce"),
    ],
    ids=["by machine", "with a barrier too many", "without the sum"],
)
def test_a_repair_that_is_none_is_found_out(tmp_path: Path, old, new, hint):
    result = check_changed("processes", tmp_path, old, new)
    assert result.outcome == "wrong"
    assert hint in result.details
