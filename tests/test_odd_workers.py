"""What a worker does to its own process must not confuse the runner."""

import textwrap
from pathlib import Path

import pytest
from left_over import assert_nothing_left, barrier_lab, marked_environment

from barrier_lab import Run, run

HARMLESS = {
    "no stdout": "sys.stdout = None",
    "closed stdout": "sys.stdout.close()",
    "other folder": "os.chdir('/')",
    "no environment": "os.environ.clear()",
    "error in a thread": "t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join()",
    "bytes that look like ours": r"os.write(1, b'\x1dstart soon\n\x1enow\x1f\n\x1e12\n\x1enan\x1f\n\xff\x00\n')",
    "a handle never waited for": "dist.all_reduce(torch.ones(1), async_op=True)",
    "a destroyed group": "dist.barrier(); dist.destroy_process_group()",
}


def work(folder: Path, body: str, **options) -> Run:
    """Run a worker with this body on two ranks."""
    script = folder / "odd.py"
    imports = "import os, sys, threading\nimport torch\nimport torch.distributed as dist\n"
    script.write_text(f"{imports}def worker(rank, world_size):\n{textwrap.indent(body, '    ')}\n")
    return run(script, **{"start_method": "forkserver", "deadline": 10} | options)


@pytest.mark.parametrize("what", HARMLESS)
def test_a_worker_may_do_this_and_completes(tmp_path: Path, what: str) -> None:
    done = work(tmp_path, HARMLESS[what])
    assert done.outcome == "completed", (done.verdict, done.text)


def test_bytes_and_settings_of_stdout_work_as_in_any_script(tmp_path: Path) -> None:
    body = "sys.stdout.reconfigure(line_buffering=True)\nsys.stdout.buffer.write('é\\nend'.encode())"
    done = work(tmp_path, body)
    assert [line.text for line in done.ranks[1].output] == ["é", "end"]


@pytest.mark.parametrize("value", ["R()", "nested(5000)", "torch.ones(2)", "float('nan')", "{(1, 2): 3}"])
def test_whatever_a_worker_returns_the_run_completes(tmp_path: Path, value: str) -> None:
    body = f"""
        class R:
            def __repr__(self): raise RuntimeError("no words")
        def nested(depth):
            value = []
            for _ in range(depth): value = [value]
            return value
        return {value}"""
    done = work(tmp_path, textwrap.dedent(body))
    assert done.outcome == "completed", done.verdict


def test_an_exception_without_words_is_told_with_its_line(tmp_path: Path) -> None:
    body = "class Mute(Exception):\n    def __str__(self): raise RuntimeError\nif rank == 1: raise Mute\ndist.barrier()"
    done = work(tmp_path, body)
    assert done.outcome == "failed"
    assert done.ranks[1].error_at.line == 7
    assert "Mute" in done.ranks[1].error and "barrier_lab" not in done.ranks[1].error


def test_a_run_whose_folder_is_removed_says_so(tmp_path: Path) -> None:
    kept = tmp_path / "run"
    with pytest.raises(ValueError, match="was removed during the run"):
        work(tmp_path, f"import shutil\nif rank == 0: shutil.rmtree({str(kept)!r})\ndist.barrier()", out=kept)


def test_a_rank_that_starts_ranks_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "recursive.py"
    script.write_text("from barrier_lab import run\ndef worker(rank, world_size):\n    run(__file__)\n")
    environment = marked_environment()
    done = barrier_lab("run", script, "--start-method", "forkserver", environment=environment, timeout=60)
    assert done.returncode == 4
    assert "run(…) was called in rank" in done.stdout
    assert_nothing_left(environment)


def test_a_long_traceback_shows_where_it_began_and_how_it_ended(tmp_path: Path) -> None:
    body = """
        def even(n): return odd(n - 1)
        def odd(n):
            if n < 0: raise ValueError("the end\\n" + "x" * 1_000_000)
            return even(n - 1)
        even(600)"""
    done = work(tmp_path, textwrap.dedent(body), world_size=1)
    lines = done.ranks[0].error.splitlines()
    assert len(lines) < 100 and max(map(len, lines)) < 2100
    assert "in worker" in lines[1]
    assert "lines are left out" in done.ranks[0].error
    assert lines[-2] == "ValueError: the end"
