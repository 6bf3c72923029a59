"""How long ranks waited, in which calls, and for whom."""

from pathlib import Path

import made_traces as made
import pytest
from made_traces import barrier, call, rank, sleep

from barrier_lab import trace
from barrier_lab.diagnose import waiting_times


@pytest.fixture
def straggler(tmp_path: Path) -> trace.Trace:
    """Rank 1 is late at two barriers, rank 0 at one, and rank 2 never waits long."""
    ranks = [
        rank(barrier(0.0, 2.0), sleep(2.0, 5.0), barrier(5.0, 5.0, line=30), ended=5.1),
        rank(sleep(0.0, 2.0), barrier(2.0, 2.0, line=21), barrier(2.1, 5.0, line=30), ended=5.1),
        rank(sleep(0.0, 1.5), barrier(1.5, 2.0), call("all_gather", 4.995, 5.0, line=30), ended=5.1),
    ]
    return trace.read(made.write(tmp_path / "run", ranks))


def test_a_rank_waits_from_its_own_arrival_until_the_last_one(straggler) -> None:
    found = {(wait.rank, wait.last.rank): round(wait.seconds, 2) for wait in waiting_times.waited(straggler)}
    assert found == {(0, 1): 2.0, (1, 0): 2.9, (2, 1): 0.5}


def test_the_table_names_call_line_and_straggler(straggler) -> None:
    assert waiting_times.table(straggler) == [
        "rank  waited  most of it in         for",
        "0     2.00 s  barrier (made.py:20)  rank 1 (made.py:21)",
        "1     2.90 s  barrier (made.py:30)  rank 0",
        "2     0.50 s  barrier (made.py:20)  rank 1 (made.py:21)",
    ]


def test_waits_on_one_line_are_added_up(tmp_path: Path) -> None:
    early = [barrier(t, t + 0.5) for t in range(4)]
    late = [barrier(t + 0.5, t + 0.5) for t in range(4)]
    run = trace.read(made.write(tmp_path / "run", [rank(*early, ended=4.0), rank(*late, ended=4.0)]))
    assert waiting_times.table(run)[1:] == ["0     2.00 s  4 × barrier (made.py:20)  rank 1", "1     -"]


def test_a_wait_that_a_timeout_ended_counts_until_then(tmp_path: Path) -> None:
    ended = barrier(0.0, 1.0, error="RuntimeError: Timed out")
    run = trace.read(made.write(tmp_path / "run", [rank(ended, ended=1.0), rank(barrier(5.0, 5.1), ended=5.1)]))
    assert [round(wait.seconds, 2) for wait in waiting_times.waited(run)] == [1.0]


def test_where_nobody_waits_there_is_no_table(tmp_path: Path) -> None:
    run = trace.read(made.write(tmp_path / "run", [rank(barrier(1.0, 1.0), ended=1.0)] * 2))
    assert waiting_times.table(run) == []
