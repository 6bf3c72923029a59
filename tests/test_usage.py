"""Wrong use gets one sentence that says what to do, exit code 2 and no traceback; from Python, a ValueError."""

from pathlib import Path

import pytest
from left_over import barrier_lab

from barrier_lab import run, run_many

pytestmark = pytest.mark.slow

WRONG = {
    "unknown experiment": (["run", "no_such_thing"], "There is no experiment 'no_such_thing'"),
    "unknown command": (["dance"], "dance"),
    "world size 0": (["run", "ordering", "--world-size", "0"], "whole number from 1"),
    "world size two": (["run", "ordering", "--world-size", "two"], "whole number from 1"),
    "world size 1.5": (["run", "ordering", "--world-size", "1.5"], "whole number from 1"),
    "parameter of the wrong type": (["run", "ordering", "--pause", "long"], "valid number"),
    "unknown parameter": (["run", "ordering", "--puase", "1"], "--puase"),
    "unknown backend": (["run", "ordering", "--backend", "mpi"], "auto, gloo, nccl"),
    "unknown start method": (["run", "ordering", "--start-method", "fork"], "spawn, forkserver"),
    "backend of a script that chooses it": (["run", "first_barrier", "--backend", "gloo"], "makes its process group"),
    "timeout for such a script": (["run", "first_barrier", "--timeout", "5"], "makes its process group itself"),
    "negative deadline": (["run", "ordering", "--deadline", "-1"], "seconds above 0"),
    "timeout that is no number": (["run", "ordering", "--timeout", "soon"], "seconds above 0"),
    "folder that cannot be written": (["run", "ordering", "--out", "/proc/run"], "cannot be written"),
    "plot that cannot be written": (["run", "ordering", "--plot", "/no/such/folder/x.svg"], "cannot be written"),
    "plot of an unknown kind": (["run", "ordering", "--plot", "x.pdf"], ".svg or .png"),
    "folder without a run": (["show", "/proc"], "holds no run"),
    "folder that is not there": (["show", "/no/such/folder"], "holds no run"),
}
SCRIPTS = {
    "no worker": ("def work(rank): pass", "has no worker"),
    "worker with too few arguments": ("def worker(rank): pass", "(rank, world_size)"),
    "syntax error": ("def worker(rank, world_size:", "not valid Python"),
    "import error": ("import no_such_module\ndef worker(rank, world_size): pass", "line 1: ModuleNotFoundError"),
    "error at import": ("def worker(rank, world_size): pass\n1 / 0", "line 2: ZeroDivisionError"),
    "exit at import": ("import sys\ndef worker(rank, world_size): pass\nsys.exit(0)", "line 3: SystemExit"),
    "main without a guard": (
        "from barrier_lab import main\ndef worker(rank, world_size): pass\nmain(worker)",
        "was called in rank",
    ),
    "parameter without default": ("def worker(rank, world_size, *, x): pass", "plain default"),
    "None without a type": ("def worker(rank, world_size, *, x=None): pass", "plain type"),
    "parameter that run uses": ("def worker(rank, world_size, *, deadline=1.0): pass", "'deadline'"),
}


def assert_one_sentence(done, part: str) -> None:
    assert done.returncode == 2, done
    assert part in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_gets_one_sentence_and_exit_code_2(case: str) -> None:
    arguments, part = WRONG[case]
    assert_one_sentence(barrier_lab(*arguments), part)


@pytest.mark.parametrize("case", SCRIPTS)
def test_a_script_that_is_no_experiment_gets_one_sentence_and_exit_code_2(tmp_path: Path, case: str) -> None:
    text, part = SCRIPTS[case]
    script = tmp_path / "script.py"
    script.write_text(text)
    assert_one_sentence(barrier_lab("run", script, "--start-method", "forkserver"), part)


def test_from_python_wrong_input_is_a_value_error_with_the_same_sentence() -> None:
    with pytest.raises(ValueError, match="There is no experiment 'no_such_thing'"):
        run("no_such_thing")
    with pytest.raises(ValueError, match="world size cannot be 'two'"):
        run("ordering", world_size="two")
    with pytest.raises(ValueError, match="'pause' of ordering cannot be 'long'"):
        run("ordering", pause="long")
    with pytest.raises(ValueError, match="no parameter 'puase'"):
        run("ordering", puase=1)
    with pytest.raises(ValueError, match="names no experiment"):
        run_many([{"world_size": 2}])


def test_a_folder_that_holds_a_run_is_not_written_again(tmp_path: Path) -> None:
    kept = tmp_path / "run.json"
    kept.write_text("{}")
    assert_one_sentence(barrier_lab("run", "ordering", "--out", tmp_path), "already holds a run")
    assert kept.read_text() == "{}"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.json", '{"schema": 1, "ranks": "all", "world_size": "two"}'),
        ("rank0.trace.json", '[\n{"name":"start","cat":"meta","ph":"i","ts":"soon","args":{}},\n'),
        ("rank0.report.json", '{"rank": 0, "world_size": 2, "flight": {"entries": [{}]}}'),
    ],
)
def test_files_that_are_not_ours_get_one_sentence(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    done = barrier_lab("show", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"The files in {tmp_path} are damaged, or not those of a run (")
    assert done.stderr.count("\n") == 1
