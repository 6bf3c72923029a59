"""Each way in which a rank can end, or not end, has its outcome, its exit code, and leaves no process behind."""

import json
from pathlib import Path

import pytest
from left_over import assert_nothing_left, barrier_lab, marked_environment

MISBEHAVE = Path(__file__).parent / "programs" / "misbehave.py"
HUNG = [
    "absent", "spins", "holds_the_interpreter_lock", "ignores_signals", "starts_a_child_and_stays",
    "prints_without_end", "prints_one_endless_line",
]  # fmt: skip
FAILED = {  # fate -> exit code and signal of rank 1
    "raises": (1, None),
    "sys_exit": (3, None),
    "os_exit": (3, None),
    "killed": (None, "SIGKILL"),
    "crashes_in_c": (None, "SIGSEGV"),
    "returns": (0, None),
    "starts_a_child_and_returns": (0, None),
}


def misbehave(how: str, method: str = "forkserver") -> tuple[int, dict]:
    environment = marked_environment()
    options = ["--how", how, "--deadline", "1.5", "--start-method", method, "--json"]
    done = barrier_lab("run", MISBEHAVE, *options, environment=environment)
    assert_nothing_left(environment)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("how", HUNG)
def test_a_rank_that_does_not_come_hangs_the_run_until_its_deadline(how: str) -> None:
    code, run = misbehave(how)
    assert (code, run["outcome"]) == (3, "hung")
    waiting, missing = run["ranks"]
    last = waiting["spans"][-1]
    assert (last["name"], last["seq"], last["end"], last["blocked"]) == ("barrier", 2, None, True)
    assert waiting["stuck_at"]["line"] == last["line"]
    assert missing["stuck_at"]["function"] == how
    assert "Rank 0" in run["verdict"] and "Rank 1" in run["verdict"]


@pytest.mark.parametrize("how", FAILED)
def test_a_rank_that_ends_early_fails_the_run(how: str) -> None:
    code, run = misbehave(how)
    assert (code, run["outcome"]) == (4, "failed")
    victim, cause = run["ranks"]
    assert (cause["exit_code"], cause["signal"]) == FAILED[how]
    assert victim["exit_code"] == 1 and "peer" in victim["error"]
    assert run["verdict"].startswith("Rank 1")


@pytest.mark.parametrize("how", ["absent", "holds_the_interpreter_lock", "killed"])
def test_spawn_and_forkserver_end_a_run_alike(how: str) -> None:
    code, run = misbehave(how, "spawn")
    assert code == (4 if how in FAILED else 3)
    assert len(run["ranks"]) == 2


def test_endless_output_is_cut_and_says_so() -> None:
    _, run = misbehave("prints_without_end")
    printed = run["ranks"][1]["output"]
    assert sum(len(line["text"]) + 1 for line in printed) < 1_100_000
    assert "printed more than" in printed[-1]["text"]


def test_a_traceback_shows_the_experiment_and_not_the_runner() -> None:
    _, run = misbehave("raises")
    error = run["ranks"][1]["error"]
    assert "misbehave.py" in error and "a mistake in the experiment" in error
    assert "barrier_lab" not in error
    assert "barrier_lab" not in run["ranks"][0]["error"]
