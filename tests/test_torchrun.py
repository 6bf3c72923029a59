"""The same files run under torchrun, and ``show`` reads what its ranks wrote."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from left_over import assert_nothing_left, barrier_lab, marked_environment, torchrun

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).parent.parent / "scripts"
PROGRAMS = Path(__file__).parent / "programs"
MISBEHAVE = PROGRAMS / "misbehave.py"
SHAPES = PROGRAMS / "shapes.py"


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
    assert "1 had not arrived at the common start" in run["verdict"]
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


def restarted(directory: Path, *arguments: str, environment: dict[str, str]) -> None:
    """A job of two ranks with one restart."""
    agent = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--max-restarts", "1"]
    command = [sys.executable, "-m", *agent, *arguments, "--out", directory]
    subprocess.run(command, env=environment, capture_output=True, timeout=300, check=False)
    assert_nothing_left(environment)


def test_a_restarted_job_keeps_what_it_recorded_before_and_show_tells_both(tmp_path: Path) -> None:
    environment = marked_environment() | {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
    restarted(tmp_path / "run", MISBEHAVE, "--how", "raises", environment=environment)
    for directory in (tmp_path / "run", tmp_path / "run" / "restart-1"):
        assert shown(directory)[1]["verdict"].startswith("Rank 1 raised")
    told = barrier_lab("show", tmp_path / "run")
    assert "Attempt 1 of 2, failed: Rank 1 raised" in told.stdout
    *_, verdict, more = told.stdout.splitlines()
    assert verdict.startswith("failed: Rank 1 raised") and more.startswith("More about this: lesson")
    assert "TORCH_DISABLE" not in told.stdout


def test_a_second_attempt_that_cannot_connect_is_told_with_its_cause_and_cure(tmp_path: Path) -> None:
    meeting = PROGRAMS / "never_joins.py"
    restarted(tmp_path / "run", meeting, environment=marked_environment())
    told = barrier_lab("show", tmp_path / "run")
    assert "Attempt 1 of 2, failed: Rank 1 raised" in told.stdout
    assert "Set TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 in the environment of torchrun" in told.stdout


def test_without_out_a_script_still_runs() -> None:
    done = torchrun(SCRIPTS / "ordering.py", "--pause", "0.1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("exit") == 2


def trace_of(directory: Path, rank: int = 0) -> list[dict]:
    """The events of a rank, as they stand in its file."""
    lines = (directory / f"rank{rank}.trace.json").read_text().splitlines()[1:]
    return [json.loads(line.rstrip(",")) for line in lines if line]


@pytest.mark.parametrize(("how", "code"), [("leaves_by_exit", 0), ("leaves_by_exit_with_3", 3)])
def test_a_rank_that_leaves_by_sys_exit_records_its_code(tmp_path: Path, how: str, code: int) -> None:
    torchrun(SHAPES, "--how", how, "--out", tmp_path / "run", ranks=1)
    last = trace_of(tmp_path / "run")[-1]
    assert (last["name"], last["cat"], last["args"]) == ("exit", "meta", {"code": code})
    assert shown(tmp_path / "run")[1]["outcome"] == ("failed" if code else "completed")


@pytest.mark.parametrize("how", ["is_not_ended_by_its_process", "is_held_at_exit"])
def test_a_process_that_its_deadline_had_to_end_has_not_completed(tmp_path: Path, how: str) -> None:
    torchrun(SHAPES, "--how", how, "--deadline", "2", "--out", tmp_path / "run", ranks=1)
    assert "exit" not in [event["name"] for event in trace_of(tmp_path / "run")]
    assert "wait_for_ever" in (tmp_path / "run" / "rank0.stack").read_text()
    assert shown(tmp_path / "run")[1]["outcome"] == "hung"


def test_a_script_s_own_faulthandler_and_ours_leave_each_other_alone(tmp_path: Path) -> None:
    done = torchrun(SHAPES, "--how", "waits_with_its_own_faulthandler", "--deadline", "3", "--out", tmp_path / "run")
    assert done.stdout.count("own stacks: 2") == 2
    run = shown(tmp_path / "run")[1]
    assert [rank["stuck_at"]["function"] for rank in run["ranks"]] == ["wait_for_ever", "wait_for_ever"]


def test_a_sleep_that_the_script_had_imported_before_is_seen(tmp_path: Path) -> None:
    torchrun(SHAPES, "--how", "sleeps_by_name", "--out", tmp_path / "run", ranks=1)
    spans = shown(tmp_path / "run")[1]["ranks"][0]["spans"]
    assert [span["name"] for span in spans] == ["barrier", "sleep"]


def test_a_full_disk_does_not_fail_a_print(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    directory.mkdir()
    (directory / "rank0.log").symlink_to("/dev/full")
    done = torchrun(SHAPES, "--how", "prints_much", "--out", directory)
    assert done.returncode == 0
    assert done.stdout.count("printed it all") == 2
    assert done.stderr.count("what rank 0 prints is not kept") == 1


def test_a_rank_that_prints_much_is_kept_as_far_as_the_runner_keeps_it(tmp_path: Path) -> None:
    done = torchrun(SHAPES, "--how", "prints_much", "--out", tmp_path / "run", ranks=1)
    assert done.stdout.count("printed it all") == 1
    kept = (tmp_path / "run" / "rank0.log").read_text()
    assert len(kept) < 1_100_000
    assert "printed more than" in kept.splitlines()[-1]


def test_without_a_shared_store_the_ranks_still_begin_at_one_moment(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "1")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = torchrun(SHAPES, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    starts = {event["ts"] for rank in (0, 1) for event in trace_of(tmp_path / "run", rank) if event["name"] == "start"}
    assert len(starts) == 1
    assert not list(tmp_path.glob("barrier_lab-*"))


@pytest.mark.parametrize("how", ["forks_a_child_that_stays", "forks_a_child_and_stays"])
def test_children_of_a_rank_do_not_outlive_it(tmp_path: Path, how: str) -> None:
    torchrun(SHAPES, "--how", how, "--deadline", "3", "--out", tmp_path / "run")  # it looks for what is left
    assert [event["name"] for event in trace_of(tmp_path / "run")].count("start") == 1


def test_a_rank_that_its_deadline_ends_leaves_no_folder(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    torchrun(SHAPES, "--how", "wait_for_ever", "--deadline", "2", ranks=1)
    limit = time.monotonic() + 60
    while list(tmp_path.glob("barrier_lab-*")) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not list(tmp_path.glob("barrier_lab-*"))


def test_a_parent_that_cannot_be_looked_at_is_not_taken_for_gone() -> None:
    program = (
        "import os\nfrom barrier_lab.rank import lifeline\n"
        "def unreadable(path): raise PermissionError(13, 'Permission denied')\n"
        "os.readlink = unreadable\nlifeline.die_with_parent()\nprint('lives')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "lives\n")
