"""Runs need no fixed port, no plain folder name and no writable working directory, and do not disturb each other."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from left_over import assert_nothing_left, barrier_lab, marked_environment

SCRIPTS = Path(__file__).parent.parent / "scripts"


def test_ten_runs_started_at_once_all_complete() -> None:
    environment = marked_environment()
    command = [sys.executable, str(SCRIPTS / "ordering.py"), "--json"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) for _ in range(10)]
    outcomes = [json.loads(run.communicate(timeout=240)[0])["outcome"] for run in runs]
    assert outcomes == ["completed"] * 10
    assert_nothing_left(environment)


def test_a_run_completes_with_port_29500_taken() -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("", 29500))
            taken.listen()
        except OSError:
            pass  # somebody else has it: as good
        assert barrier_lab("run", "ordering").returncode == 0


def test_a_run_completes_from_a_folder_with_an_awkward_name(tmp_path: Path) -> None:
    folder = tmp_path / "a b?c #ü日"
    folder.mkdir()
    script = shutil.copy(SCRIPTS / "ordering.py", folder / "mine.py")
    done = subprocess.run(
        [sys.executable, script, "--json", "--out", "kept ü?", "--plot", "zeit.svg"],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)
    assert {Path(span["file"]) for rank in run["ranks"] for span in rank["spans"]} == {folder / "mine.py"}
    assert (folder / "zeit.svg").stat().st_size > 1000
    assert barrier_lab("show", folder / "kept ü?").returncode == 0


def test_a_run_completes_with_a_working_directory_that_cannot_be_written() -> None:
    assert os.path.isdir("/proc/self")
    command = [sys.executable, str(SCRIPTS / "ordering.py")]
    done = subprocess.run(command, cwd="/proc", capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
