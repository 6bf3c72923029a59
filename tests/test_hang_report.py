"""``hang_report``, one file beside a script that installs nothing: what it writes, and what ``show`` makes of it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from left_over import assert_nothing_left, marked_environment

import barrier_lab
from barrier_lab import load

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parent / "programs"
HANG_REPORT = Path(barrier_lab.__file__).parent / "tracing" / "hang_report.py"


def hung(tmp_path: Path, program: str, told: str) -> str:
    """Run a program with ``hang_report`` on two ranks until ``told`` is in the verdict, and return that.

    On a busy machine, a rank may stall on its way to the hang; its report is then replaced by a later one.
    """
    shutil.copy(HANG_REPORT, tmp_path)
    script = tmp_path / program
    script.write_text("import hang_report\n" + (PROGRAMS / program).read_text())
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {n: v for n, v in marked_environment().items() if n != "PYTHONPATH"} | {"HANG_REPORT_SECONDS": "3"}
    with subprocess.Popen([*launcher, script.name], cwd=tmp_path, env=environment, start_new_session=True) as job:
        limit = time.monotonic() + 240
        said = ""
        while told not in said and time.monotonic() < limit:
            time.sleep(0.5)
            if len(list((tmp_path / "hang-report").glob("rank*.report.json"))) == 2:
                said = load(tmp_path / "hang-report").verdict
        os.killpg(job.pid, signal.SIGTERM)
    assert_nothing_left(environment)
    return said


def line(program: str, marker: str) -> str:
    lines = (PROGRAMS / program).read_text().splitlines()
    return f"{program}:{2 + next(i for i, text in enumerate(lines) if text.endswith(f'# {marker}'))}"


def test_the_first_difference_is_found_in_the_flight_records(tmp_path):
    said = hung(tmp_path, "trains_itself.py", "first differ at the 16th")
    there = line("trains_itself.py", "B")
    assert f"first differ at the 16th collective: broadcast on rank 0 and barrier ({there}) on rank 1" in said
    assert f"Rank 0 was at {line('trains_itself.py', 'E')} (in evaluate), called from" in said
    assert f"Rank 1 is waiting in its 1st barrier ({there})." in said
    assert said.endswith("how long a rank waited, or why one ended.")


def test_the_missing_rank_is_named_with_its_line(tmp_path):
    said = hung(tmp_path, "sleeps_elsewhere.py", "(in save)")
    assert f"Rank 0 is waiting in its 2nd barrier ({line('sleeps_elsewhere.py', 'B')})." in said
    assert f"Rank 1 had called barrier once by then; it was at {line('sleeps_elsewhere.py', 'AWAY')} (in save)" in said


def test_a_rank_without_a_report_is_named(tmp_path):
    for rank in range(2):
        entry = {"profiling_name": "gloo:barrier", "collective_seq_id": 1, "time_created_ns": 10**18, "record_id": 0}
        entry |= {"process_group": ["0", "default_pg"], "pg_id": 0, "input_sizes": [], "retired": False}
        report = {"rank": rank, "world_size": 3, "script": "/home/a/train.py", "flight": {"entries": [entry]}}
        (tmp_path / f"rank{rank}.report.json").write_text(json.dumps(report))
        stack = (
            'Thread 0x1 (most recent call first):\n  File "/lib/python3/site-packages/torch/distributed/c.py", line 5 '
        )
        stack += 'in barrier\n  File "/home/a/train.py", line 7 in <module>\n'
        (tmp_path / f"rank{rank}.stack").write_text(stack)
    said = load(tmp_path).verdict
    assert "Ranks 0 and 1 are waiting in their 1st barrier (train.py:7)." in said
    assert "Rank 2 wrote no report: it made progress, had ended, or had no process group" in said


def test_a_job_that_makes_progress_writes_nothing(tmp_path):
    shutil.copy(HANG_REPORT, tmp_path)
    (tmp_path / "healthy.py").write_text(
        "import hang_report, time\nimport torch.distributed as dist\n"
        "dist.init_process_group('gloo', init_method='file://' + __file__ + '.store', rank=0, world_size=1)\n"
        "for _ in range(12):\n    time.sleep(0.5)\n    dist.barrier()\n"
    )
    environment = os.environ | {"HANG_REPORT_SECONDS": "3"}
    subprocess.run([sys.executable, "healthy.py"], cwd=tmp_path, env=environment, check=True, timeout=240)
    assert not (tmp_path / "hang-report").exists()
