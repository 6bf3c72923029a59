"""Lesson ``first_barrier``: two processes, one group, one barrier, raw and recorded."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


def test_the_raw_program_needs_nothing_of_the_book():
    text = (SCRIPTS / "raw" / "first_barrier.py").read_text()
    assert "barrier_lab" not in text
    assert "29500" not in text


def test_the_raw_program_makes_both_tensors_before_anybody_reports(tmp_path):
    command = [sys.executable, SCRIPTS / "raw" / "first_barrier.py"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    printed = subprocess.check_output(command, text=True, timeout=120, env=environment)
    # By place in the text, not by line: with PYTHONUNBUFFERED set, two ranks' lines may run together.
    assert printed.index("rank 0 made [0, 1, 2]") < printed.index("rank 1 made [10, 11, 12]")
    assert printed.rindex("made") < printed.index("reports")
    assert printed.count("reports") == 2
    assert list(tmp_path.iterdir()) == []
