"""What the shell shows: lines as they come, a live line on stderr, a verdict, or one JSON object."""

import json
import re
import sys
import time
from pathlib import Path

import pexpect
import pytest
from left_over import barrier_lab

pytestmark = pytest.mark.slow

MISBEHAVE = Path(__file__).parent / "programs" / "misbehave.py"
SPAN = {"name", "kind", "group", "seq", "begin", "end", "blocked", "error", "file", "line"}


def test_json_prints_one_object_and_nothing_else() -> None:
    done = barrier_lab("run", "ordering", "--json", "--pause", "0.3")
    run = json.loads(done.stdout)
    assert done.stderr == ""
    assert {"schema", "experiment", "parameters", "outcome", "verdict", "backend", "backend_reason", "world_size",
            "torch", "wall_s", "ranks"} <= run.keys()  # fmt: skip
    assert (run["experiment"], run["parameters"]["pause"], run["outcome"]) == ("ordering", 0.3, "completed")
    assert run["wall_s"] > 0.6
    for rank in run["ranks"]:
        assert {"rank", "exit_code", "signal", "output", "spans", "stuck_at", "error"} <= rank.keys()
        assert all(span.keys() >= SPAN for span in rank["spans"])
        assert all(line.keys() == {"t", "stream", "text"} for line in rank["output"])
    sleep = next(span for span in run["ranks"][0]["spans"] if span["name"] == "sleep")
    assert (sleep["kind"], sleep["group"], sleep["seq"]) == ("sleep", None, None)
    assert 0 <= sleep["begin"] < sleep["end"]


def test_plain_output_has_each_line_with_its_time_and_rank_then_backend_verdict_and_lesson() -> None:
    done = barrier_lab("run", "ordering")
    lines = done.stdout.splitlines()
    assert len([line for line in lines if re.match(r" +\d\.\d{3} s  rank [01] \| ", line)]) == 10
    backend, verdict, more = lines[-3:]
    assert "gloo because" in backend or "nccl because" in backend
    assert verdict.startswith("completed: ")
    assert more == "More about this: lesson slowest_rank of the book"


def test_a_terminal_shows_colours_and_what_every_rank_is_doing_now() -> None:
    arguments = ["-m", "barrier_lab", "run", str(MISBEHAVE), "--deadline", "2"]
    terminal = pexpect.spawn(sys.executable, arguments, encoding="utf-8", timeout=120, dimensions=(24, 200))
    terminal.expect(r"in barrier 2 \(misbehave.py:\d+\)")
    terminal.expect("in sleep")
    terminal.expect("hung")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 3


def test_the_live_line_goes_to_stderr_and_not_into_a_file(tmp_path: Path) -> None:
    command = f"{sys.executable} -m barrier_lab run ordering > {tmp_path / 'kept.txt'}"
    terminal = pexpect.spawn("/bin/sh", ["-c", command], encoding="utf-8", timeout=120, dimensions=(24, 200))
    terminal.expect("now:")
    terminal.expect(pexpect.EOF)
    kept = (tmp_path / "kept.txt").read_text()
    assert "second before" in kept and "now:" not in kept and "\x1b" not in kept


def test_lines_come_as_they_are_printed() -> None:
    arguments = ["-m", "barrier_lab", "run", "ordering", "--pause", "3"]
    terminal = pexpect.spawn(sys.executable, arguments, encoding="utf-8", timeout=120, dimensions=(24, 200))
    terminal.expect("first before")
    shown = time.monotonic()
    terminal.expect("completed")
    assert time.monotonic() - shown > 2


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_plot_draws_the_timeline(tmp_path: Path, suffix: str) -> None:
    plot = tmp_path / f"timeline.{suffix}"
    assert barrier_lab("run", "ordering", "--plot", plot, "--start-method", "forkserver").returncode == 0
    assert plot.read_bytes().startswith(b"<?xml" if suffix == "svg" else b"\x89PNG")


def test_show_draws_and_prints_a_kept_run(tmp_path: Path) -> None:
    barrier_lab("run", "ordering", "--out", tmp_path / "run")
    done = barrier_lab("show", tmp_path / "run", "--plot", tmp_path / "again.svg")
    assert done.returncode == 0
    assert "completed: " in done.stdout
    assert (tmp_path / "again.svg").exists()


def test_help_tells_question_and_parameters() -> None:
    done = barrier_lab("run", "ordering", "--help")
    assert done.returncode == 0
    assert "Are two barrier calls on two different lines one barrier?" in done.stdout
    assert "--pause" in done.stdout and "--deadline" in done.stdout


def test_a_closed_pipe_ends_quietly() -> None:
    terminal = pexpect.spawn(
        "/bin/sh", ["-c", f"{sys.executable} -m barrier_lab run ordering | head -n 1"], encoding="utf-8", timeout=120
    )
    terminal.expect(pexpect.EOF)
    assert "Traceback" not in terminal.before
