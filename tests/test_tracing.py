"""Programs that nobody here wrote are recorded as they are, and told while they hang."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from left_over import assert_nothing_left, marked_environment

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parent / "programs"
LAB = [sys.executable, "-m", "barrier_lab"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]

# Its several processes need the option for GPUs also where the program asks for the CPU.
ACCELERATE = [Path(sys.executable).with_name("accelerate"), "launch", "--multi_gpu", "--num_processes", "2"]
ACCELERATE += ["--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"]


def line(program: str, marker: str) -> str:
    """ "program.py:12": the line that ends with the marker."""
    lines = (PROGRAMS / program).read_text().splitlines()
    return f"{program}:{1 + next(i for i, text in enumerate(lines) if text.endswith(f'# {marker}'))}"


def show(directory: Path) -> tuple[int, dict]:
    done = subprocess.run([*LAB, "show", directory, "--json"], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout else {}


def traced(directory: Path, *command: object, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [*LAB, "trace", "--out", directory, "--stall", "2", "--", *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


def hang_of(directory: Path, told: str, *command: object) -> tuple[dict, str]:
    """Trace a command until ``show`` tells of a hang, then press Ctrl-C: the run, and what ``trace`` printed.

    A rank that is slow, as in an import, is a hang until it goes on: ``told`` is said of the one that lasts.
    """
    environment = marked_environment()
    process = traced(directory, *command, env=environment, start_new_session=True)
    try:
        limit = time.monotonic() + 240
        code, run = 0, {}
        while time.monotonic() < limit and not (code == 3 and told in run["verdict"]):
            time.sleep(1)
            code, run = show(directory)
        assert (code, run["outcome"]) == (3, "hung")
        time.sleep(2)  # the verdict is on the time before the interrupt
    finally:
        os.killpg(process.pid, signal.SIGINT)
        printed, _ = process.communicate(timeout=120)
    assert_nothing_left(environment)
    return run, printed


def test_a_script_under_torchrun_is_told_while_it_hangs_and_when_it_is_interrupted(tmp_path):
    run, printed = hang_of(tmp_path / "run", "in its 1st barrier", *TORCHRUN, PROGRAMS / "trains_itself.py")
    called = f"({line('trains_itself.py', 'E')}, called from {line('trains_itself.py', 'V')})"
    waits = f"Rank 0 is waiting in its 12th broadcast, made by DistributedDataParallel.forward {called}."
    assert waits in run["verdict"] and waits in printed
    assert f"Rank 1 is waiting in its 1st barrier ({line('trains_itself.py', 'B')})." in run["verdict"]


def test_a_program_that_spawns_is_told_with_the_line_of_the_missing_rank(tmp_path):
    run, printed = hang_of(tmp_path / "run", "in its 2nd barrier", sys.executable, PROGRAMS / "spawns_itself.py", 1000)
    assert f"Rank 0 is waiting in its 2nd barrier ({line('spawns_itself.py', 'B')})." in run["verdict"]
    assert f"it was in time.sleep ({line('spawns_itself.py', 'AWAY')})" in run["verdict"]
    assert "it was in time.sleep" in printed


def test_a_healthy_program_runs_as_without_us(tmp_path):
    command = [sys.executable, PROGRAMS / "spawns_itself.py", "3", "--own option"]
    process = traced(tmp_path / "run", *command, stdin=subprocess.DEVNULL)
    printed, _ = process.communicate(timeout=240)
    assert process.returncode == 0
    assert printed.count("done 3 --own option") == 2
    assert re.search(r"^rank +waited +most of it in +for$", printed, re.MULTILINE)
    assert re.search(rf"^0 +\d.*{line('spawns_itself.py', 'B')}.*  rank 1", printed, re.MULTILINE)
    code, run = show(tmp_path / "run")
    assert (code, run["outcome"], run["world_size"]) == (0, "completed", 2)
    assert list((tmp_path / "run").glob("*.stack")), "it stalled, and went on"


def test_accelerate_launch_runs_on_untouched_when_healthy(tmp_path):
    printed, _ = traced(tmp_path / "run", *ACCELERATE, PROGRAMS / "accelerated.py", "well").communicate(timeout=240)
    assert "trained well" in printed
    code, run = show(tmp_path / "run")
    assert (code, run["outcome"], run["world_size"]) == (0, "completed", 2)


def test_a_hang_under_accelerate_launch_is_told(tmp_path):
    run, printed = hang_of(tmp_path / "run", "in time.sleep", *ACCELERATE, PROGRAMS / "accelerated.py", "hangs")
    waits = f"Rank 0 is waiting in its 4th all_reduce, made by Accelerator.backward ({line('accelerated.py', 'W')})."
    assert waits in run["verdict"] and waits in printed
    assert f"it was in time.sleep ({line('accelerated.py', 'AWAY')})" in run["verdict"]


@pytest.mark.parametrize(
    ("how", "start", "said"),
    [
        ("return", "spawn", r"Rank 1 finished at \S+ s, having called barrier once "),
        ("raise", "spawn", r"Rank 1 raised “ValueError: a bad batch” at \S+ s \({R}\)\. "),
        ("exit", "torchrun", r"Rank 1 exited with code 3 at \S+ s \({X}\), having called barrier once "),
        ("vanish", "torchrun", r"Rank 1 ended without a word after its 1st barrier .* \(os\._exit, or a signal "),
        ("kill", "torchrun", r"Rank 1 ended without a word after its 1st barrier .* \(os\._exit, or a signal "),
    ],
    ids=["return", "raise", "exit", "vanish", "kill"],
)
def test_a_rank_that_ends_early_comes_first_however_it_ends(tmp_path, how, start, said):
    starter = [sys.executable] if start == "spawn" else TORCHRUN
    traced(tmp_path / "run", *starter, PROGRAMS / "ends_early.py", how, start).communicate(timeout=240)
    code, run = show(tmp_path / "run")
    assert (code, run["outcome"]) == (4, "failed")
    places = {marker: re.escape(line("ends_early.py", marker)) for marker in "RXB"}
    victim = r"Rank 0 failed in its 2nd barrier \({B}[,)]"
    assert re.search(said.format(**places) + ".*" + victim.format(**places), run["verdict"]), run["verdict"]


def test_follow_prints_each_new_verdict_until_the_job_has_ended(tmp_path):
    process = traced(tmp_path / "run", sys.executable, PROGRAMS / "spawns_itself.py", "12")
    limit = time.monotonic() + 120
    while not list((tmp_path / "run").glob("rank1.trace*")) and time.monotonic() < limit:
        time.sleep(0.1)
    followed = subprocess.run(
        [*LAB, "show", tmp_path / "run", "--follow"], capture_output=True, text=True, check=False, timeout=240
    )
    process.communicate(timeout=240)
    assert followed.returncode == 0, followed.stderr
    told = re.findall("^(running|hung|completed): ", followed.stdout, re.MULTILINE)
    assert "hung" in told and told[-1] == "completed"
    assert f"it was in time.sleep ({line('spawns_itself.py', 'AWAY')})" in followed.stdout


def test_the_exit_code_is_the_commands(tmp_path):
    done = subprocess.run([*LAB, "trace", "--out", tmp_path, "--", sys.executable, "-c", "exit(7)"], check=False)
    assert done.returncode == 7


def test_a_process_without_torch_imports_nothing_of_ours_and_the_hidden_sitecustomize_is_run(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.hidden = 'run'")
    code = "import sys; print(hidden, [m for m in sys.modules if m.startswith(('barrier_lab', 'torch'))])"
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [*LAB, "trace", "--out", tmp_path / "run", "--", sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.strip() == "run []", done.stderr


def test_a_healthy_job_that_is_interrupted_did_not_hang(tmp_path):
    environment = marked_environment()
    process = traced(tmp_path / "run", *TORCHRUN, PROGRAMS / "goes_on.py", env=environment, start_new_session=True)
    limit = time.monotonic() + 240
    while len(list((tmp_path / "run").glob("rank*.trace.json"))) < 2 and time.monotonic() < limit:
        time.sleep(0.5)
    time.sleep(4)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=120)
    code, run = show(tmp_path / "run")
    assert (code, run["outcome"]) == (130, "interrupted")
    assert run["verdict"].startswith("The run was interrupted at ")
    assert_nothing_left(environment)


def test_a_second_ctrl_c_leaves_nothing_behind(tmp_path):
    """A launcher waits half a minute for ranks that are blocked in C++."""
    environment = marked_environment()
    command = [*TORCHRUN, PROGRAMS / "trains_itself.py"]
    process = traced(tmp_path / "run", *command, env=environment, start_new_session=True)
    limit = time.monotonic() + 240
    while "in its 1st barrier" not in show(tmp_path / "run")[1].get("verdict", "") and time.monotonic() < limit:
        time.sleep(1)
    time.sleep(2)
    for _ in range(2):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(1)
    printed, _ = process.communicate(timeout=20)
    assert "Rank 1 is waiting in its 1st barrier" in printed
    assert_nothing_left(environment)


def test_a_command_without_a_process_group_is_told_as_that(tmp_path):
    traced(tmp_path / "run", "true").communicate(timeout=60)
    done = subprocess.run([*LAB, "show", tmp_path / "run"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "No process has made a process group.\n")
    plot = ["--plot", tmp_path / "run.svg"]
    done = subprocess.run([*LAB, "show", tmp_path / "run", *plot], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "There is nothing to draw: no process has made a process group.\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "There is no command"),
        (["--", "no-such-command"], "no-such-command cannot be run"),
        (["--stall", "0", "--", "true"], "The stall cannot be"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_code_2(arguments, said):
    done = subprocess.run([*LAB, "trace", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr and "Traceback" not in done.stderr
