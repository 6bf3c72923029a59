"""A trace with a limit: what was dropped is counted, and the verdict stays what it would have been."""

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from barrier_lab import diagnose, trace
from barrier_lab.recording import recorder as recording

LIMIT = 300_000  # bytes; some hundred calls a piece
SCRIPT = "/home/reader/train.py"


class Writer:
    """A rank that calls collectives of one group."""

    def __init__(self, directory: Path, rank: int, limit: int | None = LIMIT) -> None:
        self.recorder = recording.open_trace(directory / f"rank{rank}.trace.json", rank, limit)
        self.recorder.mark("rank", "meta", script=SCRIPT, experiment="train", world_size=2, launcher="trace")
        self.recorder.mark("start", "meta")
        self.seq = 0

    def begin(self, name: str, line: int) -> int:
        self.seq += 1
        return self.recorder.begin(name, "collective", group="default", seq=self.seq, place=(SCRIPT, line, "main"))

    def call(self, name: str, line: int) -> None:
        self.recorder.end(name, "collective", self.begin(name, line))

    def message(self, name: str, peer: int, line: int) -> None:
        place, facts = (SCRIPT, line, "main"), (("peer", peer), ("tag", 0))
        op = self.recorder.begin(name, "p2p", group="default", place=place, facts=facts)
        self.recorder.end(name, "p2p", op)


@pytest.fixture
def pair(tmp_path):
    writers = [Writer(tmp_path, rank) for rank in range(2)]
    yield writers
    for writer in writers:
        writer.recorder.close()


def epochs(writer: Writer, number: int) -> None:
    for step in range(number):
        writer.call("all_reduce", 12)
        if step % 10 == 9:
            writer.call("barrier", 14)


def hung(directory: Path) -> trace.Trace:
    about = {"schema": 1, "launcher": "trace", "world_size": 2, "outcome": "hung", "ranks": []}
    (directory / "run.json").write_text(json.dumps(about))
    return trace.read(directory)


def test_the_traces_of_a_rank_stay_below_the_limit(pair, tmp_path):
    epochs(pair[0], 5000)
    assert sum(path.stat().st_size for path in tmp_path.glob("rank0.trace*")) <= LIMIT
    read = trace.read(tmp_path).ranks[0]
    lost = sum(count for _, count in read.dropped)
    assert lost > 3000
    assert lost + len(read.spans) == 5500


def test_the_verdict_counts_what_was_dropped(pair, tmp_path):
    for writer in pair:
        epochs(writer, 3000)
    pair[0].begin("barrier", 20)
    said = diagnose.verdict(hung(tmp_path))
    assert "Rank 0 is waiting in its 301st barrier (train.py:20)" in said
    assert "Rank 1 had called 3300 of the 3301 collectives that this takes" in said
    assert "no longer in the traces; they are counted, but not drawn" in said


def test_a_difference_among_dropped_calls_is_found(pair, tmp_path):
    for writer in pair:
        epochs(writer, 100)
    pair[1].call("broadcast", 16)  # call 111 of rank 1; everything after it is shifted
    for writer in pair:
        epochs(writer, 3000)
    pair[0].begin("barrier", 20)
    said = diagnose.verdict(hung(tmp_path))
    assert said.index("broadcast (train.py:16)") < said.index("Rank 0 is waiting")
    assert "differ at the 111th collective" in said


def test_the_verdict_is_that_of_a_trace_without_a_limit(tmp_path):
    """Of the same calls: it lacks only how often each was called before the first difference."""
    said = []
    for name, limit in (("all", None), ("some", LIMIT)):
        (tmp_path / name).mkdir()
        writers = [Writer(tmp_path / name, rank, limit) for rank in range(2)]
        for writer in writers:
            epochs(writer, 2000)
            writer.call("barrier" if writer is writers[0] else "broadcast", 18)
            epochs(writer, 2000)
        writers[1].begin("barrier", 20)
        said.append(diagnose.verdict(hung(tmp_path / name)))
    counted, same = re.match(r"(After .*), (the ranks' calls first differ .*)", said[0]).groups()
    assert counted == "After all_reduce 2000 times (train.py:12) and barrier 200 times (train.py:14)"
    assert same[1:] in said[1]
    assert re.fullmatch(r" Up to [\d,]+ calls of each rank are .*", said[1].partition(same[1:])[2])


def test_a_call_that_began_before_the_drop_is_still_open(pair, tmp_path):
    op = pair[0].recorder.begin("recv", "p2p", group="default", place=(SCRIPT, 30, "main"), facts=(("peer", 1),))
    epochs(pair[0], 3000)
    [call] = [span for span in trace.read(tmp_path).ranks[0].spans if span.end is None]
    assert (call.name, call.line, call.op) == ("recv", 30, op)


def test_messages_pair_by_their_number_after_a_drop(pair, tmp_path):
    for _ in range(2000):
        pair[0].message("send", 1, 40)
    for _ in range(1990):
        pair[1].message("recv", 0, 41)
    pair[0].recorder.begin("recv", "p2p", group="default", place=(SCRIPT, 42, "main"), facts=(("peer", 1), ("tag", 0)))
    said = diagnose.verdict(hung(tmp_path))
    assert "Rank 0 is waiting in its 1st recv" in said
    assert "Rank 1 had not called send to rank 0 by then" in said


@pytest.mark.slow
def test_a_reader_sees_a_whole_trace_while_pieces_are_dropped(tmp_path):
    code = (
        "import sys; sys.path[:0] = [sys.argv[2]]; from test_history import Writer, epochs; from pathlib import Path; "
        "epochs(Writer(Path(sys.argv[1]), 0, 2_000_000), 60_000)"
    )
    command = [sys.executable, "-c", code, tmp_path, Path(__file__).parent]
    with subprocess.Popen(list(map(str, command))) as writing:
        seen = 0
        while writing.poll() is None:
            if not (tmp_path / "rank0.trace.json").exists():
                continue
            [rank] = trace.read(tmp_path).ranks[:1]
            sequence = sorted(span.seq for span in rank.spans)
            assert all(after == before + 1 for before, after in itertools.pairwise(sequence))
            known = sum(count for _, count in rank.dropped) + len(rank.spans)
            assert known >= seen
            seen = known
    assert writing.returncode == 0


@pytest.mark.slow
def test_a_million_calls_take_little_memory(tmp_path):
    """Measured in a process of its own, after the first calls have made what is kept once."""
    code = (
        "import sys; sys.path[:0] = [sys.argv[2]]; from test_history import Writer, epochs; from pathlib import Path\n"
        "import resource; writer = Writer(Path(sys.argv[1]), 0, 64_000_000); epochs(writer, 1000)\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak(); epochs(writer, 910_000); print(peak() - before)"
    )
    command = [sys.executable, "-c", code, tmp_path, Path(__file__).parent]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20_000  # KiB
    assert sum(path.stat().st_size for path in tmp_path.glob("rank0.trace*")) <= 64_000_000
