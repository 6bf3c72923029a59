"""The lesson ``ports_and_orphans``: a port that is taken, a rank that is left behind, and ways without a port."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from left_over import assert_nothing_left, marked, marked_environment, torchrun

from barrier_lab import check, run, run_many
from barrier_lab.script.source import SCRIPTS

RAW = SCRIPTS / "raw"
EXERCISES = SCRIPTS / "exercises"
NAME = "ports_and_orphans"


def until(condition, seconds: float = 60.0) -> bool:
    limit = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < limit:
        time.sleep(0.05)
    return bool(found)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict:
    """A port that is taken, one that the launcher holds, and a file."""
    variants = {"taken": {}, "held": dict(opens=False), "file": dict(folder=str(tmp_path_factory.mktemp("meet")))}
    found = run_many([dict(experiment=NAME) | variant for variant in variants.values()])
    return dict(zip(variants, found, strict=True))


@pytest.fixture
def orphans(tmp_path: Path):
    """Two ranks whose first process was killed: their processes, the one that listens first, and their port."""
    environment, output = marked_environment(), tmp_path / "output"
    with output.open("w") as file:
        job = subprocess.Popen([sys.executable, RAW / "left_behind.py"], stdout=file, stderr=file, env=environment)
    try:
        assert until(lambda: output.read_text().count("is process") == 2), output.read_text()
        job.kill()
        job.wait()
        pids = {int(rank): int(pid) for rank, pid in re.findall(r"rank (\d) is process (\d+)", output.read_text())}
        yield [pids[0], pids[1]], int(re.search(r"port (\d+)", output.read_text())[1])
    finally:
        job.kill()
        for process in marked(environment):
            process.kill()
        assert_nothing_left(environment)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_rank_that_opens_a_taken_port_fails_at_once_and_says_so(runs):
    taken = runs["taken"]
    assert taken.outcome == "failed"
    assert "EADDRINUSE" in taken.ranks[0].error and "address already in use" in taken.ranks[0].error


def test_the_other_rank_reaches_the_wrong_store_and_times_out_later(runs):
    taken = runs["taken"]
    assert taken.line(1, "has a store")
    assert taken.ranks[1].error and "EADDRINUSE" not in taken.ranks[1].error
    assert taken.ranks[0].ended < taken.ranks[1].ended


@pytest.mark.parametrize("way", ["held", "file"])
def test_ranks_meet_when_none_of_them_opens_a_port(runs, way):
    assert runs[way].outcome == "completed"
    assert all(runs[way].line(rank, "has met the others") for rank in (0, 1))


def test_ranks_that_hang_outlive_their_parent_keep_the_port_and_do_not_hear_ctrl_c(orphans):
    pids, port = orphans
    time.sleep(1)
    assert all(alive(pid) for pid in pids)
    again = run(NAME, port=port, start_method="forkserver")
    assert "EADDRINUSE" in again.ranks[0].error
    for pid in pids:
        os.kill(pid, signal.SIGINT)
    assert not until(lambda: not all(alive(pid) for pid in pids), 1.5)
    for pid in pids:
        os.kill(pid, signal.SIGTERM)
    assert until(lambda: not any(alive(pid) for pid in pids), 30)
    assert run(NAME, port=port, start_method="forkserver").outcome == "completed"


def test_the_owner_of_a_port_is_found_from_proc():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        command = [sys.executable, RAW / "port_owner.py", str(listener.getsockname()[1])]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""
        listener.listen()
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert [int(line.split()[0]) for line in found.splitlines()] == [os.getpid()]


@pytest.mark.parametrize("prefix", [[], ["nohup"]], ids=["plain", "nohup"])
def test_closing_the_terminal_frees_the_port_unless_the_program_ignores_it(tmp_path: Path, prefix):
    told = tmp_path / "told"
    command = [sys.executable, RAW / "terminal.py", *prefix, sys.executable, RAW / "listens.py", told]
    environment = marked_environment()
    quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    terminal = subprocess.Popen(command, cwd=tmp_path, env=environment, **quiet)
    try:
        assert until(told.exists)
        pid = int(told.read_text().split()[0])
        terminal.kill()
        terminal.wait()
        ended = until(lambda: not alive(pid), 3 if prefix else 30)
        assert ended == (not prefix)
    finally:
        for process in marked(environment):
            process.kill()


def test_the_script_runs_under_torchrun_and_says_the_same(tmp_path: Path):
    assert torchrun(SCRIPTS / f"{NAME}.py", "--folder", tmp_path).returncode == 0
    assert "EADDRINUSE" in torchrun(SCRIPTS / f"{NAME}.py").stderr


# --- the exercise -----------------------------------------------------------------------------------------


def test_the_launchers_store_is_right_as_well(tmp_path: Path):
    file = Path(shutil.copy(EXERCISES / "solutions" / f"{NAME}.py", tmp_path / "mine.py"))
    text = file.read_text()
    file.write_text(re.sub(r'"gloo",[^)]*\)', '"gloo")', text))
    assert text != file.read_text()
    assert check(NAME, file).outcome == "right"


def test_ranks_that_do_not_add_their_numbers_are_found_out(tmp_path: Path):
    file = Path(shutil.copy(EXERCISES / "solutions" / f"{NAME}.py", tmp_path / "mine.py"))
    text = file.read_text()
    file.write_text(text.replace("    dist.all_reduce(total)\n", ""))
    assert text != file.read_text()
    assert check(NAME, file).outcome == "wrong"


def test_a_second_attempt_with_a_store_of_its_own_works_on_gloo():
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "--max-restarts=1"]
    environment = marked_environment() | {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    done = subprocess.run(
        [*command, RAW / "starts_again.py"], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert_nothing_left(environment)
    assert done.returncode == 0, done.stderr
    assert [f"attempt 1, rank {rank}: the sum is 2" in done.stdout for rank in (0, 1)] == [True, True]
