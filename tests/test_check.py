"""``check`` says of a learner's file, in this order: does it import, does it finish, is it right."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from left_over import barrier_lab

from barrier_lab import check
from barrier_lab.errors import UsageError
from barrier_lab.exercises import check as exercise

RIGHT = """
import torch
import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int) -> float:
    total = torch.tensor([1.0 + rank])
    dist.all_reduce(total)
    dist.barrier()
    return total.item()


if __name__ == "__main__":
    main(worker)
"""
CHECK = """
from barrier_lab.exercises import expect

RUNS = [{"deadline": 4.0}, {"world_size": 3, "deadline": 4.0}]


def judge(run):
    hint = "Sum over all ranks, then meet."
    expect.values(run, lambda rank, world_size: world_size * (world_size + 1) / 2, hint)
    expect.calls(run, ["all_reduce", "barrier"], hint)
"""


@pytest.fixture
def exercises(tmp_path, monkeypatch) -> Path:
    """A folder with one exercise, "total"."""
    folder = tmp_path / "exercises"
    (folder / "total").mkdir(parents=True)
    (folder / "total" / "check.py").write_text(CHECK)
    (folder / "total" / "total.py").write_text("def worker(rank, world_size):\n    pass\n")
    monkeypatch.setattr(exercise, "EXERCISES", folder)
    return folder


@pytest.fixture
def checked(exercises, tmp_path):
    """Check a learner's file, given as its text or as the right one with a change."""

    def checked(text: str = RIGHT, old: str = "", new: str = "") -> exercise.Result:
        assert old in text
        file = tmp_path / "mine.py"
        file.write_text(text.replace(old, new) if old else text)
        return check("total", file)

    return checked


def line_of(text: str, part: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if part in line)


def test_a_right_file_is_right(checked):
    result = checked()
    assert (result.outcome, result.exit_code, result.details) == ("right", 0, "")


def test_the_stub_is_taken_where_no_file_is_given(exercises):
    result = check("total")
    assert result.outcome == "wrong"
    assert "Expected: ranks 0 and 1 to return 3.0." in result.details
    assert "But ranks 0 and 1 returned nothing." in result.details


def test_a_wrong_value_is_told_with_its_rank_and_one_hint(checked):
    result = checked(RIGHT, "return total.item()", "return total.item() + (rank == 1)")
    assert (result.outcome, result.exit_code) == ("wrong", 1)
    assert result.details == (
        "Expected: ranks 0 and 1 to return 3.0.\nBut rank 1 returned 4.0.\nHint: Sum over all ranks, then meet."
    )


def test_a_missing_collective_is_told(checked):
    result = checked(RIGHT, "dist.barrier()", "pass")
    assert result.outcome == "wrong"
    assert "to call all_reduce, barrier.\nBut ranks 0 and 1 called all_reduce." in result.details


def test_the_order_of_collectives_counts(checked):
    result = checked(RIGHT, "dist.all_reduce(total)\n    dist.barrier()", "dist.barrier()\n    dist.all_reduce(total)")
    assert "But ranks 0 and 1 called barrier, all_reduce." in result.details


def test_a_later_run_says_how_it_was_started(checked):
    result = checked(RIGHT, "return total.item()", "return 3.0")
    assert result.outcome == "wrong"
    assert "(with world_size = 3)" in str(result)


def test_a_hang_gives_the_line_of_each_rank_in_the_learners_file(checked):
    text = RIGHT.replace("dist.barrier()", "if rank == 0:\n        dist.barrier()\n    while True:\n        pass")
    result = checked(text)
    assert (result.outcome, result.exit_code) == ("hang", 3)
    assert f"Rank 0 at mine.py:{line_of(text, 'dist.barrier()')}  dist.barrier()" in result.details
    assert "Rank 1 at mine.py:" in result.details
    assert "Rank 0 is waiting in its 1st barrier" in result.details
    assert [answer for _, answer in result.steps] == ["yes.", "no (as it stands): it was stopped after 4 s."]


def test_a_crash_gives_the_learners_traceback_without_ours(checked):
    text = RIGHT.replace("total = ", "total = undefined = missing_name or ")
    result = checked(text)
    assert (result.outcome, result.exit_code) == ("crash", 4)
    assert result.details.startswith("Ranks 0 and 1:\nTraceback (most recent call last):\n")
    assert f'mine.py", line {line_of(text, "missing_name")}, in worker' in result.details
    assert "NameError" in result.details
    assert "barrier_lab/" not in result.details
    assert "site-packages" not in result.details


def test_the_rank_that_crashed_is_shown_and_not_its_victim(checked):
    result = checked(RIGHT, "    dist.barrier()", "    if rank == 1:\n        1 / 0\n    dist.barrier()")
    assert result.details.startswith("Rank 1:\nTraceback")
    assert "ZeroDivisionError" in result.details
    assert "Rank 0 failed in its 1st barrier" in result.details


@pytest.mark.parametrize("leave", ["import sys; sys.exit(3)", "import os; os._exit(3)"])
def test_a_rank_that_leaves_with_a_code_is_a_crash(checked, leave):
    result = checked(RIGHT, "    dist.barrier()", f"    if rank == 1:\n        {leave}\n    dist.barrier()")
    assert result.outcome == "crash"
    assert "Rank 1 exited with code 3" in result.details


def test_a_rank_that_leaves_quietly_is_not_right(checked):
    assert checked(RIGHT, "    total = ", "    import sys; sys.exit(0)\n    total = ").outcome == "wrong"


def test_a_killed_rank_is_a_crash(checked):
    result = checked(
        RIGHT, "    dist.barrier()", "    import os\n    if rank: os.kill(os.getpid(), 9)\n    dist.barrier()"
    )
    assert result.outcome == "crash"
    assert "Rank 1 was killed by SIGKILL" in result.details


def test_printing_without_end_is_a_hang_and_is_not_repeated(checked):
    result = checked(RIGHT, "    dist.barrier()", "    while True:\n        print('x' * 1000)")
    assert result.outcome == "hang"
    assert len(str(result)) < 2000


def test_a_syntax_error_is_told_with_its_line(checked):
    text = RIGHT.replace("dist.barrier()", "dist.barrier(")
    result = checked(text)
    assert (result.outcome, result.exit_code) == ("crash", 4)
    assert f"in line {line_of(text, 'dist.barrier(')}" in result.details
    assert result.steps == [("Does it import?", "no.")]


def test_an_error_at_import_gives_its_traceback(checked):
    result = checked(RIGHT, "import torch\n", "import torch\nimport no_such_module\n")
    assert result.outcome == "crash"
    assert "No module named 'no_such_module'" in result.details
    assert 'mine.py", line 3' in result.details
    assert "barrier_lab/" not in result.details


def test_a_file_without_worker_is_told_so(checked):
    assert "has no worker" in checked("x = 1\n").details


def test_a_file_that_leaves_while_it_is_imported_is_a_crash(checked):
    assert checked(f"import sys\nsys.exit(0)\n{RIGHT}").outcome == "crash"
    result = checked(f"import os\nos._exit(0)\n{RIGHT}")
    assert result.outcome == "crash"
    assert "Ranks 0 and 1 left before the common start." in result.details


def test_an_import_that_does_not_end_is_a_hang_with_its_line(checked, monkeypatch):
    check("total")  # so that the server which starts ranks is warm
    monkeypatch.setattr(exercise, "IMPORT_LIMIT", 3.0)
    result = checked(f"while True: pass\n{RIGHT}")
    assert (result.outcome, result.exit_code) == ("hang", 3)
    assert "Ranks 0 and 1 at mine.py:" in result.details


def test_a_result_that_no_check_foresaw_is_wrong_and_not_an_error(checked, exercises):
    (exercises / "total" / "check.py").write_text("def judge(run):\n    run.ranks[0].result['sum']\n")
    assert checked().outcome == "wrong"


def test_a_fresh_folder_is_empty_and_goes_away(checked, exercises):
    (exercises / "total" / "check.py").write_text(
        "from barrier_lab.exercises import expect\n"
        "from pathlib import Path\n"
        "RUNS = [{'folder': expect.FRESH}] * 2\n"
        "def judge(run):\n"
        "    folder = Path(run.trace.parameters['folder'])\n"
        "    expect.that(len(list(folder.iterdir())) == 1, 'one file', 'there were others', 'Write it once.')\n"
    )
    text = "def worker(rank, world_size, *, folder: str = ''):\n    open(f'{folder}/data', 'w').close()\n"
    assert checked(text).outcome == "right"


def test_the_result_shows_itself_in_a_notebook(checked):
    result = checked(RIGHT, "return total.item()", "return '<b>'")
    assert "&lt;b&gt;" in result._repr_html_()
    assert "<svg" in result._repr_html_()


@pytest.mark.parametrize("arguments", [("no_such_exercise",), ("total", "no_such_file.py"), ("../total",)])
def test_an_unknown_exercise_or_file_is_wrong_use(exercises, arguments):
    with pytest.raises(UsageError, match=r"^There is no "):
        check(*arguments)


def test_the_shell_says_wrong_use_in_one_sentence():
    command = [sys.executable, "-m", "barrier_lab", "check", "no_such_exercise"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", exercise.names())
def test_an_exercise_fails_as_it_stands(name):
    outcome, said = exercise.load_check(name).STUB
    result = check(name)
    assert re.fullmatch(outcome, result.outcome), str(result)
    assert re.search(said, result.details)
    assert result.steps[0] == ("Does it import?", "yes.")


@pytest.mark.slow
@pytest.mark.parametrize("name", exercise.names())
def test_the_solution_of_an_exercise_passes(name):
    result = check(name, exercise.EXERCISES / name / "solution.py")
    assert result.outcome == "right", str(result)


@pytest.mark.parametrize("name", exercise.names())
def test_what_a_learner_leaves_alone_is_the_same_in_stub_and_solution(name):
    """All functions and constants of the stub but those that the check says are to be changed."""
    stub, solution = (parts(exercise.EXERCISES / name / file) for file in (f"{name}.py", "solution.py"))
    edited = exercise.load_check(name).EDITED
    assert {*edited} <= stub.keys()
    assert {part: solution.get(part) for part in stub if part not in edited} == {
        part: code for part, code in stub.items() if part not in edited
    }


def parts(path: Path) -> dict[str, str]:
    """What is defined at the top of a file, by name, without docstrings and comments."""
    found = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:]
            found[node.name] = ast.unparse(node)
        elif isinstance(node, ast.Assign):
            found[ast.unparse(node.targets[0])] = ast.unparse(node)
    return found


def test_the_shell_gives_the_exit_code_of_the_result():
    stub = barrier_lab("check", "sampler")
    assert (stub.returncode, stub.stderr) == (1, "")
    solution = barrier_lab("check", "sampler", exercise.EXERCISES / "sampler" / "solution.py")
    assert (solution.returncode, solution.stderr) == (0, "")
