"""Numbers of lines in prose come from the scripts: they follow a line that moves, and the build fails if it is gone."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

CONF = f"""\
import sys
sys.path.insert(0, {str(ROOT / "book" / "_ext")!r})
extensions = ["myst_parser", "barrier_lab_lessons"]
"""
PAGE = "# A page\n\nIt waits in line {line}`waits dist.barrier(`.\n"
SCRIPT = "import torch.distributed as dist\n\ndist.barrier()\n"


def built(folder: Path, script: str) -> tuple[int, str, str]:
    """Exit code, messages and text of a page that speaks of a line of this script."""
    (folder / "scripts").mkdir(exist_ok=True)
    (folder / "scripts" / "waits.py").write_text(script)
    (folder / "index.md").write_text(PAGE)
    (folder / "conf.py").write_text(CONF)
    command = [sys.executable, "-m", "sphinx", "-b", "text", "-q", "-W", "--keep-going", folder, folder / "out"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    page = folder / "out" / "index.txt"
    return done.returncode, done.stderr, page.read_text() if page.exists() else ""


def test_the_number_follows_a_line_that_moves(tmp_path):
    assert "in line 3." in built(tmp_path, SCRIPT)[2]
    assert "in line 5." in built(tmp_path, f"import os\nimport sys\n{SCRIPT}")[2]


@pytest.mark.parametrize(("script", "count"), [("print(1)\n", 0), (SCRIPT * 2, 2)])
def test_the_build_fails_if_no_line_or_more_than_one_is_meant(tmp_path, script, count):
    code, said, _ = built(tmp_path, script)
    assert code == 1
    assert f"{count} lines contain 'dist.barrier('" in said
