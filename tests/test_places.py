"""Runs need no fixed port, no plain folder name and no writable working directory, and do not disturb each other."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from left_over import assert_nothing_left, barrier_lab, marked_environment

from barrier_lab import run
from barrier_lab import temporary_folder as folders

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).parent.parent / "scripts"


def test_three_runs_started_at_once_all_complete() -> None:
    environment = marked_environment()
    command = [sys.executable, str(SCRIPTS / "ordering.py"), "--json"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) for _ in range(3)]
    outcomes = [json.loads(run.communicate(timeout=240)[0])["outcome"] for run in runs]
    assert outcomes == ["completed"] * 3
    assert_nothing_left(environment)


def test_a_run_completes_with_port_29500_taken() -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("", 29500))
            taken.listen()
        except OSError:
            pass  # somebody else has it: as good
        assert barrier_lab("run", "ordering", "--start-method", "forkserver").returncode == 0


def test_a_run_completes_from_a_folder_with_an_awkward_name(tmp_path: Path) -> None:
    folder = tmp_path / "a b?c #ü日"
    folder.mkdir()
    script = shutil.copy(SCRIPTS / "ordering.py", folder / "mine.py")
    done = subprocess.run(
        [sys.executable, script, "--json", "--out", "kept ü?", "--plot", "zeit.svg", "--start-method", "forkserver"],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)
    assert {Path(span["file"]) for rank in run["ranks"] for span in rank["spans"]} == {folder / "mine.py"}
    assert (folder / "zeit.svg").stat().st_size > 1000
    assert barrier_lab("show", folder / "kept ü?").returncode == 0


def test_a_run_completes_with_a_working_directory_that_cannot_be_written() -> None:
    assert os.path.isdir("/proc/self")
    command = [sys.executable, str(SCRIPTS / "ordering.py"), "--start-method", "forkserver"]
    done = subprocess.run(command, cwd="/proc", capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def in_shell(command: str, *, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    """A shell command with the runner as ``$RUN``, on a warm start method."""
    variables = (environment or marked_environment()) | {
        "RUN": f"{sys.executable} -m barrier_lab run ordering --pause 0.1 --start-method forkserver"
    }
    done = subprocess.run(
        ["/bin/bash", "-c", command], env=variables, capture_output=True, text=True, timeout=120, check=False
    )
    assert "Traceback" not in done.stderr
    assert_nothing_left(variables)
    return done


def test_a_run_completes_with_its_standard_streams_closed(tmp_path: Path) -> None:
    assert in_shell(f"$RUN --out {tmp_path / 'run'} <&- >&- 2>&-").returncode == 0
    assert barrier_lab("show", tmp_path / "run").returncode == 0


def test_a_reader_that_goes_away_ends_the_run_quietly_with_141() -> None:
    done = in_shell("$RUN | head -n 1 >&2; exit ${PIPESTATUS[0]}")
    assert (done.returncode, len(done.stderr.splitlines())) == (141, 1)


def test_a_full_disk_gets_one_sentence_and_exit_code_2() -> None:
    done = in_shell("$RUN > /dev/full")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "no space left" in done.stderr


def test_too_few_open_files_get_one_sentence_and_exit_code_2() -> None:
    done = in_shell("ulimit -n 24; $RUN")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "cannot be started (Too many open files)" in done.stderr


def test_what_the_encoding_of_the_terminal_lacks_is_escaped(tmp_path: Path) -> None:
    script = tmp_path / "word.py"
    script.write_text("def worker(rank, world_size):\n    print('été')\n")
    command = [sys.executable, "-m", "barrier_lab", "run", script, "--start-method", "forkserver"]
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=ascii_only, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "\\xe9t\\xe9" in done.stdout


def test_a_forked_process_can_run_as_well() -> None:
    assert run("ordering", pause=0.1, start_method="forkserver").outcome == "completed"
    child = os.fork()
    if not child:
        code = 1
        with contextlib.suppress(Exception):
            code = 0 if run("ordering", pause=0.1, start_method="forkserver").outcome == "completed" else 2
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert run("ordering", pause=0.1, start_method="forkserver").outcome == "completed"


def test_folders_that_a_killed_process_left_are_removed_an_hour_later(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead, alive = gone.pid, os.getpid()
    ages = {f"barrier_lab-{dead}-old": 4000, f"barrier_lab-{dead}-new": 0, f"barrier_lab-{alive}-old": 4000}
    for name, age in ages.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{}")
        os.utime(tmp_path / name, (time.time() - age, time.time() - age))
    folders.remove_abandoned(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(list(ages)[1:])
