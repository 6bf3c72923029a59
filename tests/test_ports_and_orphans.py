"""Lesson ``ports_and_orphans``: what its page does not run, and answers to its exercise."""

import socket
import subprocess
import sys
from pathlib import Path

from left_over import torchrun
from repairs import check_changed

from barrier_lab.script.source import SCRIPTS

NAME = "ports_and_orphans"
STORE = """"gloo",
        store=store,
        rank=rank,
        world_size=world_size,
    )"""


def test_nobody_owns_a_port_at_which_nobody_listens():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        command = [sys.executable, SCRIPTS / "raw" / "port_owner.py", str(bound.getsockname()[1])]
        assert subprocess.check_output(command, text=True) == ""


def test_the_script_runs_under_torchrun_and_says_the_same(tmp_path: Path):
    at_file = torchrun(SCRIPTS / f"{NAME}.py", "--folder", tmp_path)
    assert (at_file.returncode, at_file.stdout.count("has met the others")) == (0, 2)
    taken = torchrun(SCRIPTS / f"{NAME}.py")
    assert taken.returncode == 1
    assert "EADDRINUSE" in taken.stderr


def test_the_launchers_store_is_right_as_well(tmp_path: Path):
    assert check_changed(NAME, tmp_path, STORE, '"gloo")').outcome == "right"


def test_ranks_that_do_not_add_their_numbers_are_found_out(tmp_path: Path):
    result = check_changed(NAME, tmp_path, "    dist.all_reduce(total)\n", "")
    assert result.outcome == "wrong"
    assert "take part in the all_reduce" in result.details
