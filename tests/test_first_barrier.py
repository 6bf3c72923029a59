"""Lesson ``first_barrier``: what its page does not assert of the raw program."""

import os
import subprocess
import sys

from barrier_lab.script.source import SCRIPTS

RAW = SCRIPTS / "raw" / "first_barrier.py"


def test_the_raw_program_needs_nothing_of_the_book():
    text = RAW.read_text()
    assert "barrier_lab" not in text
    assert "29500" not in text


def test_each_rank_of_the_raw_program_makes_its_own_tensor_and_leaves_no_file(tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    printed = subprocess.check_output([sys.executable, RAW], text=True, timeout=120, env=environment)
    # By place in the text, not by line: with PYTHONUNBUFFERED set, two ranks' lines may run together.
    assert printed.index("rank 0 made [0, 1, 2]") < printed.index("rank 1 made [10, 11, 12]")
    assert list(tmp_path.iterdir()) == []
