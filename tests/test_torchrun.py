"""The same files run under torchrun, and ``show`` reads what its ranks wrote."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from left_over import assert_nothing_left, barrier_lab, marked_environment, torchrun

SCRIPTS = Path(__file__).parent.parent / "scripts"
PROGRAMS = Path(__file__).parent / "programs"
MISBEHAVE = PROGRAMS / "misbehave.py"


def shown(directory: Path) -> tuple[int, dict]:
    done = barrier_lab("show", directory, "--json")
    return done.returncode, json.loads(done.stdout)


def test_each_rank_writes_its_trace_and_show_gives_the_verdict(tmp_path: Path) -> None:
    done = torchrun(SCRIPTS / "ordering.py", "--out", tmp_path / "run", "--pause", "0.3")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("first after") == 1
    code, run = shown(tmp_path / "run")
    assert (code, run["outcome"], run["world_size"], run["parameters"]["pause"]) == (0, "completed", 2, 0.3)
    first, second = run["ranks"]
    begun = [line["t"] for line in first["output"] if line["text"] == "second before"]
    passed = [line["t"] for line in second["output"] if line["text"] == "first after"]
    assert begun[0] < passed[0]
    assert [span["name"] for span in second["spans"]] == ["barrier", "sleep"]


def test_a_rank_that_has_become_another_program_ends_by_its_deadline(tmp_path: Path) -> None:
    done = torchrun(PROGRAMS / "becomes_another.py", "--deadline", "1.5", "--out", tmp_path / "run")
    assert done.returncode == 1


@pytest.mark.parametrize("how", ["absent", "holds_the_interpreter_lock", "ignores_signals"])
def test_each_rank_keeps_its_own_deadline(tmp_path: Path, how: str) -> None:
    done = torchrun(MISBEHAVE, "--how", how, "--deadline", "1.5", "--out", tmp_path / "run")
    assert done.returncode == 1
    code, run = shown(tmp_path / "run")
    assert (code, run["outcome"]) == (3, "hung")
    assert [rank["stuck_at"]["function"] for rank in run["ranks"]] == ["worker", how]


def test_a_rank_does_not_wait_for_ever_for_one_that_never_starts(tmp_path: Path) -> None:
    done = torchrun(PROGRAMS / "never_comes.py", "--out", tmp_path / "run")
    assert done.returncode == 1
    assert "init_process_group" in (tmp_path / "run" / "rank0.stack").read_text()
    code, run = shown(tmp_path / "run")
    assert (code, run["outcome"]) == (3, "hung")
    assert "Rank 1 had not come to the common start" in run["verdict"]
    assert "when the time for the start was over" in run["verdict"]


def test_a_rank_that_raises_fails_the_job(tmp_path: Path) -> None:
    torchrun(MISBEHAVE, "--how", "raises", "--out", tmp_path / "run")
    code, run = shown(tmp_path / "run")
    assert (code, run["outcome"]) == (4, "failed")
    assert run["verdict"].startswith("Rank 1 raised")


@pytest.mark.parametrize("option", [["--json"], ["--plot", "x.svg"], ["--world-size", "2"], ["--world-size=2"]])
def test_options_of_the_runner_are_refused_with_exit_code_2(option: list[str]) -> None:
    done = torchrun(SCRIPTS / "ordering.py", *option, ranks=1)
    assert f"{option[0].split('=')[0]} has no meaning under torchrun" in done.stderr
    assert "exitcode: 2" in done.stderr.replace(" ", " ")


def test_a_restarted_job_keeps_what_it_recorded_before(tmp_path: Path) -> None:
    # Without this variable both attempts have one store, and the second one calls at the addresses of the first.
    environment = marked_environment() | {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    agent = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--max-restarts", "1"]
    command = [sys.executable, "-m", *agent, MISBEHAVE, "--how", "raises", "--out", tmp_path / "run"]
    subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    assert_nothing_left(environment)
    for directory in (tmp_path / "run", tmp_path / "run" / "restart-1"):
        assert shown(directory)[1]["verdict"].startswith("Rank 1 raised")


def test_without_out_a_script_still_runs() -> None:
    done = torchrun(SCRIPTS / "ordering.py", "--pause", "0.1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("exit") == 2
