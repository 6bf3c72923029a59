"""The verdict on runs in which ranks were cut off: by an abort in a collective, by their launcher, by a short stack."""

import pytest
from hand_made import SCRIPT, barrier, call, end, raised, sleep, start, write

from barrier_lab import diagnose, trace

TIMED_OUT = "RuntimeError: Timed out waiting 3000ms for recv operation to complete"


@pytest.fixture
def cut_off(tmp_path):
    """The verdict of a failed run whose ranks without an end are gone, as ``trace`` finds them."""

    def said(*ranks) -> str:
        run = trace.read(write(tmp_path, dict(enumerate(ranks)), outcome="failed"))
        for rank in run.ranks:
            rank.vanished = rank.ended is None
        return diagnose.verdict(run)

    return said


def by_join(line: int, begin: float, end: float | None = None) -> list[dict]:
    events = call("all_reduce", line, begin, end)
    events[0]["args"]["via"] = "Join.__exit__"
    return events


def test_an_abort_inside_calls_that_differ_is_told_with_the_difference(cut_off):
    said = cut_off([start(), barrier(10, 1)], [start(), call("all_reduce", 12, 1)])
    assert said.startswith("The ranks' calls first differ at the 1st collective: barrier (one_sided.py:10) on rank 0")


def test_a_rank_that_is_gone_outside_of_any_call_is_told_before_a_difference(cut_off):
    said = cut_off([start(), barrier(10, 1, 2)], [start(), barrier(12, 1, 2)])
    assert said.startswith("Rank 0 ended without a word after its 1st barrier (one_sided.py:10)")


def test_a_rank_that_its_launcher_ended_after_a_timeout_is_told_where_it_was(cut_off):
    late = [barrier(10, 1, 4, error=TIMED_OUT), raised(4, TIMED_OUT, 10)]
    said = cut_off([start(), *late], [start(), sleep(11, 1)])
    assert "Rank 1 had not called barrier by then; it was in time.sleep (one_sided.py:11)." in said


@pytest.mark.parametrize("ended", [[], [end(2.1)]], ids=["before", "while it reported"])
def test_a_victim_that_its_launcher_ended_before_it_reported_is_no_cause(cut_off, ended):
    victim = [start(), barrier(10, 1, 2, error="RuntimeError: Connection closed by peer"), *ended]
    said = cut_off(victim, [start(), barrier(9, 0, 0.5)])
    assert said.startswith("Rank 1 ended without a word after its 1st barrier (one_sided.py:9)")
    assert "Rank 0 failed in its 1st barrier (one_sided.py:10) at 2.00 s" in said


def test_a_call_of_the_users_that_meets_one_of_join_is_the_difference(cut_off):
    both = call("all_reduce", 9, 0.5, 0.6)
    said = cut_off([start(), both, call("all_reduce", 12, 1)], [start(), both, by_join(8, 1)])
    assert "first differ at the 2nd collective" in said and "made by Join.__exit__ (one_sided.py:8) on rank 1" in said


def test_ranks_that_nobody_started_are_counted(tmp_path):
    init = call("init_process_group", 7, 0.1, kind="group")
    ranks = {rank: [start(), init] for rank in (0, 1)}
    write(tmp_path, ranks, world_size=4, outcome="hung", stopped=6.0, stacks={0: 7, 1: 7})
    for path in tmp_path.glob("*.trace.json"):
        path.write_text(path.read_text().replace('"seq": null', '"seq": 1, "ranks": [0, 1, 2, 3]'))
    run = trace.read(tmp_path)
    assert "4 ranks were expected in init_process_group (one_sided.py:7), and 2 arrived." in diagnose.verdict(run)


@pytest.mark.parametrize(("deep", "leaving"), [(4, True), (100, False)])
def test_a_stack_that_was_not_written_whole_does_not_show_a_rank_that_leaves(tmp_path, deep, leaving):
    write(tmp_path, {0: [start()]}, outcome="hung", stopped=6.0)
    frames = '  File "/usr/lib/python3.11/importlib/_bootstrap.py", line 1 in load\n' * deep
    (tmp_path / "rank0.stack").write_text(f"Thread 0x1 (most recent call first):\n{frames}")
    assert trace.read(tmp_path).ranks[0].leaving is leaving
    assert SCRIPT not in frames
