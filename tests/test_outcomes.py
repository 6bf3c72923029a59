"""Each way in which a rank can end, or not end, has its outcome, and leaves no process behind."""

import json
from pathlib import Path

import pytest
import warm
from left_over import assert_nothing_left, barrier_lab, marked_environment

from barrier_lab import run_many

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


ALL = [*HUNG, *FAILED]
AT_ONCE = 4


def run_all(file: str) -> None:
    """Run each fate, a few at a time, and write what ``--json`` would print into a file."""
    found = {}
    for i in range(0, len(ALL), AT_ONCE):
        fates = ALL[i : i + AT_ONCE]
        runs = run_many([dict(experiment=MISBEHAVE, how=how, deadline=1.5) for how in fates])
        found |= {how: run.to_dict() for how, run in zip(fates, runs, strict=True)}
    Path(file).write_text(json.dumps(found))


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, dict]:
    """A run of each fate, as JSON; all of them together leave no process behind."""
    environment = marked_environment()
    file = tmp_path_factory.mktemp("runs") / "runs.json"
    done = warm.completed(run_all, str(file), environment=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    assert_nothing_left(environment)
    return json.loads(file.read_text())


@pytest.mark.parametrize("how", HUNG)
def test_a_rank_that_does_not_come_hangs_the_run_until_its_deadline(runs, how: str) -> None:
    run = runs[how]
    assert run["outcome"] == "hung"
    waiting, missing = run["ranks"]
    last = waiting["spans"][-1]
    assert (last["name"], last["seq"], last["end"], last["blocked"]) == ("barrier", 2, None, True)
    assert waiting["stuck_at"]["line"] == last["line"]
    assert missing["stuck_at"]["function"] == how
    assert "Rank 0" in run["verdict"] and "Rank 1" in run["verdict"]


@pytest.mark.parametrize("how", FAILED)
def test_a_rank_that_ends_early_fails_the_run(runs, how: str) -> None:
    run = runs[how]
    assert run["outcome"] == "failed"
    victim, cause = run["ranks"]
    assert (cause["exit_code"], cause["signal"]) == FAILED[how]
    assert victim["exit_code"] == 1 and "peer" in victim["error"]
    assert run["verdict"].startswith("Rank 1")


@pytest.mark.parametrize(("how", "code"), [("holds_the_interpreter_lock", 3), ("killed", 4)])
def test_ranks_that_are_spawned_end_alike_and_the_shell_gets_the_exit_code(how: str, code: int) -> None:
    environment = marked_environment()
    done = barrier_lab("run", MISBEHAVE, "--how", how, "--deadline", "1.5", "--json", environment=environment)
    assert_nothing_left(environment)
    assert (done.returncode, len(json.loads(done.stdout)["ranks"])) == (code, 2)


def test_endless_output_is_cut_and_says_so(runs) -> None:
    printed = runs["prints_without_end"]["ranks"][1]["output"]
    assert sum(len(line["text"]) + 1 for line in printed) < 1_100_000
    assert "printed more than" in printed[-1]["text"]


def test_a_traceback_shows_the_experiment_and_not_the_runner(runs) -> None:
    victim, cause = runs["raises"]["ranks"]
    assert "misbehave.py" in cause["error"] and "a mistake in the experiment" in cause["error"]
    assert "barrier_lab" not in cause["error"]
    assert "barrier_lab" not in victim["error"]
