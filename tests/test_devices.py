"""Lesson ``devices``: wrong answers of its exercise."""

from pathlib import Path

import pytest
from repairs import check_changed


@pytest.mark.parametrize(
    ("old", "new", "outcome", "hint"),
    [
        ("[device.index]", "[device]", "crash", "TypeError"),
        ("rank % ranks_here", "rank", "wrong", "how many ranks does one of them have"),
        ("gpus >= ranks_here", "gpus >= world_size", "wrong", "how many ranks does one of them have"),
    ],
    ids=["a device object", "the global rank", "GPUs for the whole job"],
)
def test_a_repair_that_is_none_is_found_out(tmp_path: Path, old, new, outcome, hint):
    result = check_changed("devices", tmp_path, old, new)
    assert result.outcome == outcome
    assert hint in result.details
