"""A rank waits in a barrier that another rank never calls: how the wait ends, and who names the missing rank."""

import re
from pathlib import Path

import pytest
from repairs import check_changed

from barrier_lab import run, run_many

SHORT = {"experiment": "one_sided", "fast": 0.1, "slow": 0.3}
VARIANTS = {
    "absent": {"deadline": 3.0},
    "exits": {"peer": "exits"},
    "killed": {"peer": "killed"},
    "timed out": {"timeout": 2.0},
    "all": {"peer": "comes"},
    "none": {"barrier": False, "busy": 1.0},
    "leaves later": {"busy": 1.0},
    "four": {"world_size": 4, "deadline": 3.0},
}


@pytest.fixture(scope="module")
def runs() -> dict:
    """One run of each variant, all at once."""
    return dict(zip(VARIANTS, run_many([SHORT | variant for variant in VARIANTS.values()]), strict=True))


def second_call(run):
    return run.spans(0, "barrier")[1]


def test_a_rank_waits_for_an_absent_one_until_the_deadline(runs):
    absent = runs["absent"]
    assert absent.outcome == "hung"
    assert second_call(absent).end is None
    assert [len(absent.spans(rank, "barrier")) for rank in (0, 1)] == [2, 1]


def test_the_verdict_names_both_ranks_and_both_lines(runs):
    absent = runs["absent"]
    barrier, sleep = second_call(absent), absent.spans(1, "sleep")[-1]
    assert f"Rank 0 is waiting in its 2nd barrier (one_sided.py:{barrier.line})" in absent.verdict
    assert "Rank 1 had called barrier once" in absent.verdict
    assert f"time.sleep (one_sided.py:{sleep.line})" in absent.verdict


def test_the_stack_of_the_waiting_rank_names_the_line_of_the_barrier(runs):
    stack = (runs["absent"].directory / "rank0.stack").read_text()
    assert f'one_sided.py", line {second_call(runs["absent"]).line} in worker' in stack


def test_the_first_barrier_releases_both_ranks_after_the_slower_one(runs):
    first = [runs["absent"].spans(rank, "barrier")[0] for rank in (0, 1)]
    assert first[0].begin < first[1].begin < first[0].end


@pytest.mark.parametrize("fate", ["exits", "killed"])
def test_gloo_fails_the_waiting_rank_when_the_other_is_gone(runs, fate):
    gone = runs[fate]
    assert gone.outcome == "failed"
    assert "Connection" in second_call(gone).error and "by peer" in second_call(gone).error
    assert gone.ranks[1].signal == ("SIGKILL" if fate == "killed" else None)


def test_an_error_comes_when_the_other_rank_leaves_not_when_it_does_not_come(runs):
    later = runs["leaves later"]
    left = later.spans(1, "sleep")[-1].end
    assert second_call(later).begin < left < second_call(later).end
    assert "Connection" in second_call(later).error


def test_a_time_out_of_the_group_fails_the_waiting_rank_and_is_no_hang(runs):
    timed_out = runs["timed out"]
    assert timed_out.outcome == "failed"
    assert "Timed out waiting 2000ms" in second_call(timed_out).error
    assert re.search("time-?out of 2 s", timed_out.verdict) and "deadline" not in timed_out.verdict


def test_it_completes_when_all_ranks_call_the_second_barrier_or_none_does(runs):
    assert runs["all"].outcome == runs["none"].outcome == "completed"
    assert [len(runs["all"].spans(rank, "barrier")) for rank in (0, 1)] == [2, 2]
    assert [len(runs["none"].spans(rank, "barrier")) for rank in (0, 1)] == [1, 1]


def test_without_the_barrier_nobody_waits_for_the_busy_rank(runs):
    none = runs["none"]
    busy = none.spans(1, "sleep")[-1]
    assert none.line(0, "first barrier").t < busy.end
    assert [span for span in none.spans(0) if span.begin > busy.begin + (busy.end - busy.begin) / 2] == []


def test_of_four_ranks_three_wait_for_the_one_that_is_missing(runs):
    assert runs["four"].outcome == "hung"
    assert "Ranks 0, 2 and 3 are waiting" in runs["four"].verdict


def test_a_barrier_that_timed_out_leaves_its_group_broken_and_others_whole():
    poisoned = run("one_sided_poisoned", start_method="forkserver")
    for rank in (0, 1):
        passed = [line.text.split(":")[0] for line in poisoned.ranks[rank].output if "passed" in line.text]
        assert passed == ["default group"]
    assert "Timed out" in poisoned.line(0, "first try").text


def test_monitored_barrier_names_the_missing_ranks_unless_rank_0_is_one():
    missing = [(2, 1), (0, -1), (-1, -1)]
    named, unnamed, complete = run_many(
        [{"experiment": "one_sided_monitored", "missing": one, "also": other} for one, other in missing]
    )
    assert named.line(0, "Ranks 1, 2 failed to pass monitoredBarrier")
    assert "failed to pass" not in unnamed.text
    left = unnamed.spans(0, "sleep")[-1].end
    assert all(rank.output[-1].t > left for rank in unnamed.ranks[1:])
    assert all(rank.output[-1].text == "everybody was here" for rank in complete.ranks)


def test_faulthandler_shows_each_ranks_line_while_it_is_blocked():
    stacks = run("one_sided_stack", start_method="forkserver")
    text = ["\n".join(line.text for line in rank.output) for rank in stacks.ranks]
    assert ["in barrier" in one for one in text] == [True, True, False, True]
    assert "in validate" in text[2]
    assert stacks.outcome == "completed"


# --- the exercise -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "outcome", "hint"),
    [
        ("    dist.barrier()\n", "", "wrong", "must come to the barrier"),
        ("return None", "return 0", "wrong", "Only the record that cannot be read"),
        ("return None", "raise ValueError(record)", "crash", "ValueError: 4?"),
    ],
    ids=["without the barrier", "with a made-up number", "with an error"],
)
def test_a_repair_that_is_none_is_found_out(tmp_path: Path, old, new, outcome, hint):
    result = check_changed("one_sided", tmp_path, old, new)
    assert result.outcome == outcome
    assert hint in result.details
