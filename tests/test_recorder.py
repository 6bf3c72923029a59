"""The trace file: whole, valid and in order, whatever is written to it and whatever ends its writer."""

import errno
import json
import mmap
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from barrier_lab import trace
from barrier_lab.display import terminal
from barrier_lab.recording import recorder as recording
from barrier_lab.recording.trace_file import CHUNK


@pytest.fixture
def recorder(tmp_path):
    recorder = recording.open_trace(tmp_path / "rank0.trace.json", 0)
    yield recorder
    recorder.close()


def events(directory: Path) -> list[dict]:
    """The events of rank 0, read by JSON's own rules: only the closing bracket is missing."""
    text = (directory / "rank0.trace.json").read_text()
    return json.loads(text.rstrip().rstrip(",") + "]", parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_a_trace_without_events_names_its_process(recorder, tmp_path):
    assert events(tmp_path) == [{"name": "process_name", "ph": "M", "pid": 0, "tid": 0, "args": {"name": "rank 0"}}]


def test_a_blocking_call_is_a_begin_and_an_end_on_its_thread(recorder, tmp_path):
    op = recorder.begin("barrier", "collective", group="default", seq=1, place=("a.py", 7, "worker"))
    recorder.end("barrier", "collective", op)
    begin, end = events(tmp_path)[1:]
    assert (begin["ph"], end["ph"]) == ("B", "E")
    assert begin["tid"] == end["tid"] == threading.get_native_id()
    assert begin["args"] == {"op": op, "group": "default", "seq": 1, "file": "a.py", "line": 7, "function": "worker"}
    assert end["args"] == {"op": op}
    assert begin["ts"] <= end["ts"]


def test_what_is_in_flight_has_its_number_as_id(recorder, tmp_path):
    op = recorder.begin("isend", "p2p", group="default", flight=True)
    recorder.end("isend", "p2p", op, error="RuntimeError: gone", flight=True)
    begin, end = events(tmp_path)[1:]
    assert [(e["ph"], e["id"], e["args"]["op"]) for e in (begin, end)] == [("b", op, op), ("e", op, op)]
    assert begin["args"]["seq"] is None
    assert end["args"]["error"] == "RuntimeError: gone"


def test_the_reader_understands_what_is_written(recorder, tmp_path):
    recorder.mark("start", "meta")
    with recorder.span("sleep", "sleep", place=("a.py", 1, "worker")):
        pass
    (span,) = trace.read(tmp_path).ranks[0].spans
    assert (span.name, span.kind, span.blocked, span.file, span.line) == ("sleep", "sleep", True, "a.py", 1)
    assert 0 <= span.begin <= span.end


@pytest.mark.parametrize(
    "name", ['say "hi"', "50 %d %s %", "back\\slash", "two\nlines", "für Łódź 中文 🙂", "\udcff", "\0", ""]
)
def test_any_text_is_valid_json(recorder, tmp_path, name):
    with recorder.span(name, "collective", group=name, seq=1, place=(name, 1, name)):
        pass
    with pytest.raises(ValueError), recorder.span(name, "p2p", flight=True):
        raise ValueError(name)
    recorder.mark(name, "meta", **{"value": name, name: 1})
    found = events(tmp_path)[1:]
    assert [event["name"] for event in found] == [name] * 5
    assert found[0]["args"]["file"] == name


def test_values_that_json_does_not_know_are_written_as_text(recorder, tmp_path):
    recorder.mark("rank", "meta", path=Path("/tmp"), nan=float("nan"), keys={1: {2.5}}, pair=(1, None))
    assert events(tmp_path)[1]["args"] == {"path": "/tmp", "nan": "nan", "keys": {"1": "{2.5}"}, "pair": [1, None]}


def test_a_mark_can_be_set_at_a_given_moment(recorder, tmp_path):
    recorder.mark("start", "meta", at=1_234_567_890)
    assert events(tmp_path)[1]["ts"] == 1_234_567.89


def test_an_error_with_many_lines_is_told_by_its_first(recorder, tmp_path):
    with pytest.raises(RuntimeError), recorder.span("barrier", "collective"):
        raise RuntimeError("first\nsecond")
    assert events(tmp_path)[-1]["args"]["error"] == "RuntimeError: first"
    assert recording.describe(KeyboardInterrupt()) == "KeyboardInterrupt"


def test_threads_do_not_mix_their_lines(recorder, tmp_path):
    def write():
        for _ in range(1000):
            with recorder.span("step", "sleep"):
                pass

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [event for event in events(tmp_path)[1:] if event["ph"] != "M"]
    assert sorted(event["args"]["op"] for event in found if event["ph"] == "B") == list(range(1, 4001))
    assert len(found) == 8000


def test_each_thread_but_the_main_one_is_named_once_with_its_number_for_faulthandler(recorder, tmp_path):
    idents = []

    def write():
        idents.append(threading.get_ident())
        for _ in range(3):
            with recorder.span("step", "sleep"):
                pass

    write()
    thread = threading.Thread(target=write, name="saver")
    thread.start()
    thread.join()
    [named] = [event for event in events(tmp_path)[1:] if event["ph"] == "M"]
    assert (named["name"], named["args"]) == ("thread_name", {"name": "saver", "ident": idents[1]})


def test_a_forked_child_writes_nothing_into_the_trace(recorder, tmp_path):
    child = os.fork()
    if child == 0:
        recorder.mark("child", "meta")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    recorder.mark("parent", "meta")
    assert [event["name"] for event in events(tmp_path)[1:]] == ["parent"]


def test_names_without_end_do_not_fill_the_memory(recorder, monkeypatch):
    monkeypatch.setattr(recording, "_TEMPLATES_KEPT", 10)
    for number in range(100):
        recorder.begin(str(number), "collective")
    assert len(recorder._thread.templates) <= 10


def test_a_disk_that_is_full_ends_the_recording_and_not_the_run(tmp_path):
    code = """if True:
        import resource, sys
        from barrier_lab.recording import recorder as recording
        from barrier_lab.recording.trace_file import CHUNK
        resource.setrlimit(resource.RLIMIT_FSIZE, (CHUNK * 5 // 2, resource.RLIM_INFINITY))
        recorder = recording.open_trace(sys.argv[1], 0)
        for seq in range(1, 3001):
            recorder.begin("barrier", "collective", group="default", seq=seq)
        print("alive")"""
    command = [sys.executable, "-c", code, tmp_path / "rank0.trace.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "alive\n")
    assert done.stderr.count("rank 0 records no longer") == len(done.stderr.splitlines()) == 1
    numbers = [event["args"]["seq"] for event in events(tmp_path)[1:]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert 500 < len(numbers) < 3000


def test_a_trace_that_cannot_be_made_is_an_error(tmp_path):
    with pytest.raises(OSError):
        recording.open_trace(tmp_path / "absent" / "rank0.trace.json", 0)


def test_the_trace_of_another_process_is_never_cut_short(recorder, tmp_path):
    with pytest.raises(FileExistsError):
        recording.open_trace(tmp_path / "rank0.trace.json", 0)


def test_where_files_cannot_be_mapped_each_event_is_written(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError(errno.ENODEV, "No such device")

    monkeypatch.setattr(mmap, "mmap", refuse)
    recorder = recording.open_trace(tmp_path / "rank0.trace.json", 0)
    for number in range(2000):
        recorder.mark(str(number), "meta")
    written = (tmp_path / "rank0.trace.json").read_bytes()
    recorder.close()
    assert (tmp_path / "rank0.trace.json").read_bytes() == written
    assert [event["name"] for event in events(tmp_path)[1:]] == [str(number) for number in range(2000)]


@pytest.mark.parametrize("size", [CHUNK - 1000, CHUNK, 3 * CHUNK])
def test_an_event_can_be_longer_than_the_chunks_of_the_file(recorder, tmp_path, size):
    for name in ("before", "x" * size, "after"):
        recorder.mark(name, "meta")
    assert [len(event["name"]) for event in events(tmp_path)[1:]] == [6, size, 5]


def test_a_closed_trace_ends_with_its_last_event(recorder, tmp_path):
    recorder.mark("start", "meta")
    assert (tmp_path / "rank0.trace.json").stat().st_size % CHUNK == 0
    recorder.close()
    text = (tmp_path / "rank0.trace.json").read_text()
    assert text.endswith("},\n") and not text.endswith("\n\n")


def test_the_trace_of_a_process_that_ends_by_itself_has_no_blank_lines(tmp_path):
    code = """if True:
        import sys
        from barrier_lab.recording import recorder as recording
        recording.open_trace(sys.argv[1], 0).mark("start", "meta")"""
    path = tmp_path / "rank0.trace.json"
    subprocess.run([sys.executable, "-c", code, path], check=True, timeout=60)
    assert len(path.read_text().split("\n")) == 4


def test_the_live_line_finds_the_last_event_before_the_blank_lines(recorder, tmp_path):
    for seq in range(1, 1001):
        op = recorder.begin("barrier", "collective", group="default", seq=seq)
        assert f"in barrier {seq} " in terminal.doing_now(tmp_path).plain
        recorder.end("barrier", "collective", op)
    assert "working" in terminal.doing_now(tmp_path).plain


def test_recording_after_close_is_harmless(recorder, tmp_path):
    recorder.close()
    with recorder.span("barrier", "collective"):
        pass
    assert len(events(tmp_path)) == 1


def test_events_survive_sigkill(tmp_path):
    code = """if True:
        import os, signal, sys
        from barrier_lab.recording import recorder as recording
        recorder = recording.open_trace(sys.argv[1], 0)
        for seq in range(1, 1001):
            recorder.begin("barrier", "collective", group="default", seq=seq)
        assert "torch" not in sys.modules
        os.kill(os.getpid(), signal.SIGKILL)"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "rank0.trace.json"], timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert [event["args"]["seq"] for event in events(tmp_path)[1:]] == list(range(1, 1001))
