"""Ranks are ended by what they are, not by their numbers, and one that does not end holds up nobody."""

import os
import signal
import subprocess
import threading
from types import SimpleNamespace

import pytest

from barrier_lab.runner import rank_processes as processes
from barrier_lab.runner.rank_processes import RankProcess


def made(pid: int, pidfd: int | None, code: int | None = None) -> RankProcess:
    """The runner's side of a rank with this number, whose process is the one of the pidfd."""
    process = SimpleNamespace(pid=pid, exitcode=code)
    return RankProcess(0, process, os.pipe(), {}, None, pidfd, "forkserver")


@pytest.fixture
def innocent():
    """A process of somebody else, which leads a group and has taken the number of a rank that is gone."""
    process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def test_a_number_that_has_passed_to_another_process_is_not_signalled(innocent: subprocess.Popen) -> None:
    gone = subprocess.Popen(["true"])
    pidfd = os.pidfd_open(gone.pid)
    gone.wait()
    one = made(innocent.pid, pidfd, code=0)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        processes.send(one, number)
    processes.end_group(one)
    os.close(pidfd)
    with open(f"/proc/{innocent.pid}/stat") as file:
        assert file.read().split()[2] in "RS"  # neither stopped nor ended


def test_a_rank_that_does_not_end_holds_up_no_other(innocent: subprocess.Popen) -> None:
    stuck, ended = made(innocent.pid, None), made(innocent.pid, None, code=0)
    waiting = threading.Thread(target=processes.exit_code, args=(stuck, 1000), daemon=True)
    waiting.start()
    for _ in range(100):
        assert processes.exit_code(ended, within=600) == 0
    assert waiting.is_alive()
    stuck.process.exitcode = -9
    waiting.join()


def test_a_forked_process_keeps_no_lifeline_of_a_rank() -> None:
    reading, writing = os.pipe()
    processes._lifelines.add(writing)
    child = os.fork()
    if child == 0:
        try:
            os.fstat(writing)
        except OSError:
            os._exit(0)
        os._exit(1)
    processes._lifelines.discard(writing)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(reading)
    os.close(writing)
