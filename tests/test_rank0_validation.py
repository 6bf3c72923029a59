"""Lesson ``rank0_validation``: wrong answers of its exercise."""

from pathlib import Path

import pytest
from repairs import check_changed


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
