"""A run directory is read as it is, also when a crash has cut it off."""

import json
import sys

import pytest
from hand_made import SCRIPT, ZERO, barrier, call, end, raised, sleep, start, write

from barrier_lab import trace


def test_times_are_seconds_from_the_common_start(tmp_path):
    run = trace.read(write(tmp_path, {0: [start(), barrier(7, 1.5, 2.25), end(3)]}))
    [span] = run.ranks[0].spans
    assert (span.begin, span.end) == pytest.approx((1.5, 2.25))
    assert run.ranks[0].ended == pytest.approx(3)
    assert run.ranks[0].started


def test_a_span_knows_its_call_its_group_and_its_place_in_the_order(tmp_path):
    run = trace.read(write(tmp_path, {0: [start(), barrier(7, 1, 2, group="1"), barrier(9, 2, 3)]}))
    first, second = run.ranks[0].spans
    assert (first.name, first.kind, first.group, first.seq) == ("barrier", "collective", "1", 1)
    assert (second.group, second.seq, second.file, second.line) == ("default", 1, SCRIPT, 9)


def test_a_call_without_its_end_is_still_open_and_blocks(tmp_path):
    run = trace.read(write(tmp_path, {0: [start(), sleep(3, 0.5)]}))
    [span] = run.ranks[0].spans
    assert span.end is None
    assert span.blocked


def test_a_collective_in_flight_does_not_block(tmp_path):
    run = trace.read(write(tmp_path, {0: [start(), call("all_reduce", 3, 0.5, below=True)]}, {0: 8}))
    assert not run.ranks[0].spans[0].blocked


def test_a_collective_in_flight_blocks_a_rank_that_still_stands_on_its_line(tmp_path):
    run = trace.read(write(tmp_path, {0: [start(), call("all_reduce", 3, 0.5, below=True)]}, {0: 3}))
    assert run.ranks[0].spans[0].blocked


def test_a_blocking_call_that_is_in_flight_as_well_is_one_span(tmp_path):
    both = barrier(5, 1, 2)
    both[1:1] = [dict(both[0], ph="b", args=dict(both[0]["args"]), id=1)]
    write(tmp_path, {0: [start()]})
    lines = [json.dumps(event | {"args": event["args"] | {"op": 1, "seq": 1}}) + ",\n" for event in both]
    with (tmp_path / "rank0.trace.json").open("a") as file:
        file.writelines(lines)
    [span] = trace.read(tmp_path).ranks[0].spans
    assert span.blocked
    assert span.end == pytest.approx(2)


def test_a_torn_last_line_is_left_out(tmp_path):
    path = write(tmp_path, {0: [start(), barrier(7, 1, 2), barrier(9, 3, 4)]}) / "rank0.trace.json"
    text = path.read_bytes()
    path.write_bytes(text[:-20])
    first, second = trace.read(tmp_path).ranks[0].spans
    assert first.end is not None
    assert second.end is None


@pytest.mark.parametrize("kept", range(0, 700, 37))
def test_a_file_cut_off_anywhere_can_be_read(tmp_path, kept):
    path = write(tmp_path, {0: [start(), barrier(7, 1, 2), end(2)]}, outcome="failed") / "rank0.trace.json"
    path.write_bytes(path.read_bytes()[:kept])
    assert len(trace.read(tmp_path).ranks) == 1


def test_a_closed_array_as_other_tools_write_it_can_be_read(tmp_path):
    path = write(tmp_path, {0: [start(), barrier(7, 1, 2)]}) / "rank0.trace.json"
    path.write_text(path.read_text().rstrip(",\n") + "\n]\n")
    assert trace.read(tmp_path).ranks[0].spans[0].end is not None


def test_a_rank_without_a_file_has_not_started(tmp_path):
    write(tmp_path, {0: [start(), end(1)], 1: [start(), end(1)]})
    (tmp_path / "rank1.trace.json").unlink()
    run = trace.read(tmp_path)
    assert run.world_size == 2
    assert not run.ranks[1].started


def test_the_ranks_tell_of_the_run_when_its_runner_was_killed(tmp_path):
    run = trace.read(write(tmp_path, {0: [start()], 1: [start()]}))
    assert (run.outcome, run.experiment, run.deadline) == (None, "one_sided", 6.0)


def test_a_torn_run_json_is_as_none(tmp_path):
    write(tmp_path, {0: [start()]}, outcome="completed")
    (tmp_path / "run.json").write_text('{"outcome": "compl')
    assert trace.read(tmp_path).outcome is None


def test_a_folder_without_a_run_is_said_to_be_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no run"):
        trace.read(tmp_path)


def test_an_error_keeps_its_traceback_and_its_line(tmp_path):
    rank = trace.read(write(tmp_path, {0: [start(), raised(2, "ValueError: no", line=12)]})).ranks[0]
    assert rank.error.endswith("ValueError: no\n")
    assert (rank.error_at.file, rank.error_at.line) == (SCRIPT, 12)


def test_a_value_that_the_worker_returned_is_kept(tmp_path):
    result = [{"name": "result", "cat": "meta", "ph": "i", "ts": (ZERO + 1) * 1e6, "args": {"value": {"sum": 3}}}]
    assert trace.read(write(tmp_path, {0: [start(), result]})).ranks[0].result == {"sum": 3}


def test_output_is_read_with_its_moment_and_its_stream(tmp_path):
    write(tmp_path, {0: [start()]})
    (tmp_path / "rank0.log").write_bytes(b"1000.250000 out first before\n1000.500000 err \xff  two  spaces\n1000.6 ou")
    first, second = trace.read(tmp_path).ranks[0].output
    assert (first.t, first.stream, first.text) == (pytest.approx(0.25), "stdout", "first before")
    assert (second.stream, second.text) == ("stderr", "\ufffd  two  spaces")


def test_a_stack_names_the_innermost_line_of_the_experiment(tmp_path):
    write(tmp_path, {0: [start()]})
    (tmp_path / "rank0.stack").write_text(
        "Thread 0x2 (most recent call first):\n"
        f'  File "{SCRIPT}", line 99 in helper\n\n'
        "Thread 0x1 (most recent call first):\n"
        '  File "/x/site-packages/torch/distributed/distributed_c10d.py", line 5057 in barrier\n'
        f'  File "{SCRIPT}", line 21 in worker\n'
        f'  File "{SCRIPT}", line 40 in <module>\n'
    )
    here = trace.read(tmp_path).ranks[0].stuck_at
    assert (here.file, here.line, here.function) == (SCRIPT, 21, "worker")


@pytest.mark.parametrize(
    ("frame", "stuck_in", "leaving"),
    [
        ('"/x/site-packages/torch/distributed/distributed_c10d.py", line 5863 in new_group', "new_group", False),
        ('"/home/reader/groups.py", line 4 in new_group', None, False),
        ('"/x/barrier_lab/rank.py", line 118 in run_worker', None, True),
    ],
)
def test_a_stack_tells_a_rank_that_makes_a_group_and_one_that_leaves(tmp_path, frame, stuck_in, leaving):
    write(tmp_path, {0: [start()]})
    outer = '  File "<string>", line 1 in <module>\n'
    (tmp_path / "rank0.stack").write_text(f"Thread 0x1 (most recent call first):\n  File {frame}\n{outer}")
    rank = trace.read(tmp_path).ranks[0]
    assert (rank.stuck_in, rank.leaving) == (stuck_in, leaving)
    assert rank.stuck_at is None or rank.stuck_at.file == "/home/reader/groups.py"


def test_reading_and_explaining_import_no_torch(tmp_path):
    import subprocess

    directory = write(tmp_path / "run", {0: [start(), end(1)]})
    code = (
        "import sys; from barrier_lab import trace, diagnose; "
        f"diagnose.verdict(trace.read({str(directory)!r})); "
        "writers = {'torch', *('barrier_lab.' + name for name in ('launch', 'rank', 'recording', 'experiment'))}; "
        "sys.exit(bool(writers & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_what_a_rank_sees_after_its_deadline_is_no_part_of_the_run(tmp_path):
    late = [*barrier(7, 1.0, 6.02), *raised(6.03, "RuntimeError: Connection closed by peer")]
    run = trace.read(write(tmp_path, {0: [start(), late]}, {0: 7}, deadline=6.0))
    [span] = run.ranks[0].spans
    assert span.end is None
    assert run.ranks[0].error is None


@pytest.mark.parametrize(
    "foreign", [b"[1, 2]", b'{"name": "npm", "ranks": "none"}', b"\xff\xfe\x00", b'{"schema": 1, "ra']
)
def test_a_run_json_of_another_program_or_cut_off_is_no_run(tmp_path, foreign):
    (tmp_path / "run.json").write_bytes(foreign)
    with pytest.raises(FileNotFoundError, match="holds no run"):
        trace.read(tmp_path)


def test_events_of_another_program_are_left_out(tmp_path):
    (tmp_path / "rank0.trace.json").write_bytes(b'[{"ph":"B","pid":3,"ts":1},{"ph":"X","name":"q","ts":1}]')
    assert trace.read(tmp_path).ranks[0].spans == []
