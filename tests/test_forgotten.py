"""A program that defines a worker and ends without having run it says so, and no other program does."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

WORKER = "from barrier_lab import main\ndef worker(rank, world_size): pass\n"
SILENT = {
    "it is imported": "",
    "it defines no worker": "from barrier_lab import main\n",
    "its worker is another's": "from barrier_lab import main\nfrom mine import worker\n",
    "it uses nothing of this package": "import mine\ndef worker(rank, world_size): pass\n",
    "it ran its worker": WORKER + "from barrier_lab import run\nrun(__file__, start_method='forkserver')\n",
    "it ended by an error": WORKER + "1 / 0\n",
    "it was started by another program": WORKER
    + "import multiprocessing\nif __name__ == '__main__':\n"
    + "    child = multiprocessing.get_context('spawn').Process(target=print)\n    child.start()\n    child.join()\n"
    + "    main(worker)\n",
}


def python(*arguments: str, folder: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def test_a_file_that_never_calls_main_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WORKER)
    done = python("mine.py", folder=tmp_path)
    assert done.returncode == 0
    assert done.stderr.strip() == (
        "mine.py defines worker, but nothing has run it: end the file with "
        'if __name__ == "__main__": main(worker), or use python -m barrier_lab run mine.py.'
    )


@pytest.mark.parametrize("rank", ["0", "1"])
def test_under_torchrun_one_rank_says_so(tmp_path: Path, monkeypatch, rank: str) -> None:
    monkeypatch.setenv("RANK", rank)
    (tmp_path / "mine.py").write_text(WORKER)
    assert ("nothing has run it" in python("mine.py", folder=tmp_path).stderr) == (rank == "0")


@pytest.mark.parametrize("why", SILENT)
def test_a_program_is_left_alone_if(tmp_path: Path, why: str) -> None:
    (tmp_path / "mine.py").write_text(WORKER)
    (tmp_path / "other.py").write_text(SILENT[why] or "import mine\n")
    assert "nothing has run it" not in python("other.py", folder=tmp_path).stderr


def test_a_program_typed_at_a_prompt_is_left_alone(tmp_path: Path) -> None:
    assert "nothing has run it" not in python("-c", WORKER, folder=tmp_path).stderr
