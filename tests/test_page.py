"""A run in a page: its output can be read to the end of each line, and shows the reader's own code."""

import sysconfig

from barrier_lab import run, trace
from barrier_lab.display import html as page

TORCH = f"{sysconfig.get_path('purelib')}/torch/distributed/c10d_logger.py"
TRACEBACK = f"""Traceback (most recent call last):
  File "/home/reader/mine.py", line 33, in worker
    dist.barrier()
  File "{TORCH}", line 83, in wrapper
    return func(*args, **kwargs)
           ^^^^^^^^^^^^^^^^^^^^^
  File "{TORCH}", line 9, in barrier
    work.wait()
RuntimeError: Connection closed by peer"""


def lines(text):
    return [trace.Output(0.001 * n, "stderr", line) for n, line in enumerate(text.splitlines())]


def test_frames_outside_the_readers_files_become_one_line():
    shown = [line.text for line in page.folded(lines(TRACEBACK))]
    assert shown == [*TRACEBACK.splitlines()[:3], "  … 5 lines inside torch", "RuntimeError: Connection closed by peer"]


def test_frames_that_torch_marks_with_the_rank_are_folded_too():
    marked = "\n".join(f"[rank1]: {line}" for line in TRACEBACK.splitlines())
    shown = [line.text for line in page.folded(lines(marked))]
    assert shown[3:] == ["  … 5 lines inside torch", "[rank1]: RuntimeError: Connection closed by peer"]


def test_lines_that_are_no_traceback_stay_as_they_are():
    said = lines("one\n    two, indented\n  File it under three")
    assert page.folded(said) == said


def test_each_line_of_output_is_a_block_of_its_own_with_its_rank():
    finished = run("first_barrier", barrier=False, start_method="forkserver")
    shown = page.to_html(finished.trace, finished.outcome, finished.verdict)
    assert shown.count('<span class="bl-line') == len(finished.lines())
    assert " rank 1 | " in shown and "bl-verdict bl-completed" in shown


def test_the_backend_that_a_script_chose_is_told_although_it_calls_no_collective():
    finished = run("first_barrier", barrier=False, start_method="forkserver")
    assert finished.spans(name="barrier") == []
    assert finished.trace.backend in ("gloo", "nccl")
