"""The lesson ``processes``: who each rank is, who waits at the start, and two jobs at once."""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch.distributed as dist
from left_over import assert_nothing_left, marked_environment
from repairs import check_changed

from barrier_lab import Run, run, run_many
from barrier_lab.script.source import SCRIPTS

RAW = SCRIPTS / "raw"
TORCHRUN = ["-m", "torch.distributed.run"]
VARIANTS = {
    "late": dict(),
    "late, without": dict(barrier=False),
    "table": dict(delay=0.0, setup=0.5),
    "table, without": dict(delay=0.0, setup=0.5, barrier=False),
}


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    """All variants, at once."""
    found = run_many([dict(experiment="processes") | variant for variant in VARIANTS.values()])
    return dict(zip(VARIANTS, found, strict=True))


def python(*arguments: object, **environment: str) -> subprocess.CompletedProcess:
    """Python to its end; nothing may be left of it."""
    marked = marked_environment() | environment
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(
        command, env=marked, capture_output=True, text=True, timeout=150, input="hello\n", check=False
    )
    assert_nothing_left(marked)
    return done


def jobs_at_once(*options: str, **environment: str) -> list[dict]:
    return [json.loads(line) for line in python(RAW / "two_jobs.py", *options, **environment).stdout.splitlines()]


def number(name: str, line: str) -> int:
    return int(re.search(rf"\b{name}=(\d+)", line)[1])


@pytest.mark.parametrize("which", ["late", "late, without"])
def test_no_rank_is_in_the_group_before_the_last_one_has_come(runs, which):
    late = runs[which]
    assert late.outcome == "completed"
    came = late.line(2, "comes to").t
    assert came > max(late.line(rank, "comes to").t for rank in (0, 1, 3))
    assert all(late.line(rank, "is in").t > came for rank in range(4))


def test_without_the_barrier_a_table_of_rank_0_is_used_too_early(runs):
    made = runs["table, without"].line(0, "has made").t
    assert all(runs["table, without"].line(rank, "uses").t < made for rank in (1, 2, 3))


def test_with_the_barrier_nobody_uses_the_table_before_it_is_made(runs):
    made = runs["table"].line(0, "has made").t
    assert all(runs["table"].line(rank, "uses").t > made for rank in (1, 2, 3))


@pytest.mark.parametrize("meet", ["init", "barrier"])
def test_a_rank_that_meets_the_others_before_it_leaves_breaks_no_start(meet):
    assert [found.outcome for found in run_many([dict(experiment="processes_leave", meet=meet)] * 2)] == [
        "completed"
    ] * 2


def test_a_rank_that_leaves_at_once_can_break_the_start_of_another():
    tried = []
    while not any(found.outcome == "failed" for found in tried) and len(tried) < 90:  # it takes microseconds of luck
        tried += run_many([dict(experiment="processes_leave")] * 3)
    failed = next(found for found in tried if found.outcome == "failed")
    errors = [rank.error for rank in failed.ranks if rank.error]
    assert 0 < len(errors) < 8
    assert all("connectFullMesh" in error for error in errors)
    assert any("Connection closed by peer" in error for error in errors)


def test_each_rank_finds_its_numbers_in_the_environment(runs):
    for rank in range(4):
        line = runs["late"].ranks[rank].output[0].text
        assert [number(name, line) for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE")] == [rank, rank, 4]


def test_a_barrier_before_the_group_exists_is_a_value_error():
    with pytest.raises(ValueError, match="process group has not been initialized"):
        dist.barrier()


def test_two_threads_of_a_process_keep_no_more_than_one_core_busy():
    (result,) = [r.result for r in run("processes_threads", world_size=1, threads=2, start_method="forkserver").ranks]
    seconds, cpu = result
    assert cpu < 1.15 * seconds


def test_one_file_is_started_by_spawn_and_by_torchrun():
    done = [
        python(RAW / "processes.py", "--ask"),
        python(*TORCHRUN, "--standalone", "--nproc-per-node", 2, RAW / "processes.py", "--ask"),
    ]
    for job in done:
        assert job.returncode == 0, job.stderr
        assert all(f"rank {rank} of 2 is in" in job.stdout for rank in (0, 1))
    assert ["hello" in job.stdout for job in done] == [False, True]


def test_two_nodes_with_two_processes_each_are_a_world_of_four(tmp_path: Path):
    node = (
        "--nnodes 2 --nproc-per-node 2 --local-addr localhost --rdzv-id two --rdzv-backend c10d "
        f"--rdzv-endpoint {tmp_path}/meet --rdzv-conf store_type=file"
    )
    said = sorted(line for job in jobs_at_once(node, node) for line in job["said"])
    assert [number("RANK", line) for line in said] == [0, 1, 2, 3]
    assert [number("LOCAL_RANK", line) for line in said] == [0, 1, 0, 1]
    assert [number("GROUP_RANK", line) for line in said] == [0, 0, 1, 1]
    assert {number("WORLD_SIZE", line) for line in said} == {4}


def test_of_two_jobs_with_the_default_endpoint_one_fails():
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        moved = f"localhost:{probe.getsockname()[1]}"
    options = "--rdzv_backend c10d --master_port=0"
    jobs = jobs_at_once(options, options, PET_RDZV_ENDPOINT=moved)
    assert sorted(job["exit_code"] for job in jobs) == [0, 1]
    assert [bool(job["said"]) for job in jobs] == [job["exit_code"] == 0 for job in jobs]


def test_jobs_that_find_a_free_port_all_run_at_once():
    options = ["--standalone", "--rdzv-backend c10d --rdzv-endpoint localhost:0"] * 2
    jobs = jobs_at_once(*options)
    assert [job["exit_code"] for job in jobs] == [0, 0, 0, 0]
    assert len({number("MASTER_PORT", job["said"][0]) for job in jobs}) == 4


def test_the_old_launcher_passes_an_option_that_an_old_script_does_not_know():
    done = python("-m", "torch.distributed.launch", "--nproc-per-node", 1, RAW / "own_options.py")
    assert "unrecognized arguments: --local-rank=0" in done.stderr
    assert "exitcode  : 2" in done.stderr


def test_torchrun_sets_no_option_of_the_script():
    done = python(*TORCHRUN, "--standalone", "--nproc-per-node", 2, RAW / "own_options.py")
    assert done.stdout.count("world size: option 1, environment 2") == 2


def test_without_a_launcher_an_old_script_goes_on_alone_and_reports_no_error():
    environment = {key: value for key, value in os.environ.items() if key != "RANK"}
    command = [sys.executable, str(RAW / "own_options.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "not using distributed mode\n")


# --- the exercise -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("rank::world_size", "0::2", "How many processes share the files"),
        ('"gloo")\n', '"gloo")\n    dist.barrier()\n', "Is a barrier needed"),
        ("    dist.all_reduce(total)\n", "", "Keep the all_reduce"),
    ],
    ids=["by machine", "with a barrier too many", "without the sum"],
)
def test_a_repair_that_is_none_is_found_out(tmp_path: Path, old, new, hint):
    result = check_changed("processes", tmp_path, old, new)
    assert result.outcome == "wrong"
    assert hint in result.details
