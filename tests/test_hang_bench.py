"""The hang bench: its programs are what they promise, and the verdict and the other tools are judged on real runs."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.hangs import bench, errors, report, stacks, table  # noqa: E402
from benchmarks.hangs.cases import DOZEN, PROGRAMS, cases, ends_well, ranks  # noqa: E402
from benchmarks.hangs.report import VERDICT, Report, Row  # noqa: E402

CASES = cases()  # raises if a header cannot be read, or a marker stands on no line


def test_there_are_sixty_programs_and_fifteen_of_them_end_well():
    assert len(CASES) >= 60
    assert sum(map(ends_well, CASES)) >= 15


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.py")), ids=lambda path: path.stem)
def test_a_program_is_short_plain_and_says_what_is_wrong_with_it(path):
    text = path.read_text()
    assert len(text.splitlines()) < 40
    assert "init_process_group" in text and "barrier_lab" not in text
    (case,) = (case for case in CASES if case.path == path)
    assert 2 <= ranks(case) <= 4
    assert case.guilty is not None or case.differ


def test_a_faulty_program_names_a_guilty_rank_and_a_line():
    faulty = [case for case in CASES if not ends_well(case)]
    assert [case.path.stem for case in faulty if not (case.guilty or case.differ)] == []
    assert [case.path.stem for case in faulty if not (case.lines or case.differ)] == []


def test_the_dozen_of_the_book_are_twelve_programs_of_several_kinds():
    dozen = cases([*DOZEN])
    assert len(dozen) == 12
    assert len({case.kind for case in dozen}) >= 8


@pytest.fixture
def lock():
    return cases(["absent_lock"])[0]


def test_the_score_knows_right_from_wrong(lock):
    guilty, waiting = (dict(lock.lines)[rank] for rank in (1, 0))
    right = f"Rank 0 is waiting in barrier ({waiting}). Rank 1 had not called barrier; it was in flock ({guilty})."
    other = right.replace(guilty, "absent_lock.py:1")
    innocent = f"Rank 0 had not called barrier; it was in flock ({guilty})."
    rows = [report.score(lock, Report("x", "hung", text)) for text in (right, other, innocent, "")]
    assert [(row.rank, row.line) for row in rows] == [(True, True), (True, False), (False, False), (False, False)]
    assert not report.score(lock, Report("x", "failed", right)).rank


def test_a_healthy_program_that_is_told_to_hang_is_a_false_alarm():
    (healthy,) = cases(["healthy_branches"])
    assert not report.score(healthy, Report("x", "completed", "Both ranks finished.")).alarm
    assert report.score(healthy, Report("x", "completed", "Both ranks finished.", alarm=True)).alarm
    assert report.score(healthy, Report("x", "failed", "")).alarm


def test_the_odd_stack_is_the_one_outside_of_collectives(lock):
    waits = [("barrier", "/x/torch/distributed/distributed_c10d.py", 5), ("main", str(lock.path), 23)]
    said = stacks.text(lock, {0: waits, 1: [("main", str(lock.path), 19)]})
    assert said.startswith("Rank 1 had not called; it was in main (absent_lock.py:19).")
    assert stacks.text(lock, {0: waits, 1: waits}).count("is waiting") == 2
    other = [waits[0], ("main", str(lock.path), 24)]
    assert "differ" in stacks.text(lock, {0: waits, 1: other}) and "others" not in stacks.text(
        lock, {0: waits, 1: other}
    )
    assert stacks.text(lock, {0: waits, 1: other, 2: waits}).endswith("Rank 1 had not come to where the others are.")


def test_an_error_that_is_a_consequence_accuses_nobody(lock, tmp_path):
    line = f'  File "{lock.path}", line 23, in main\n'
    head = f"[rank0]: Traceback (most recent call last):\n[rank0]: {line}"
    (tmp_path / "log_0").write_text(f"{head}[rank0]: RuntimeError: Connection closed by peer\n")
    (tmp_path / "log_1").write_text("nothing of note\n")
    assert errors.text(lock, tmp_path) == "Rank 0 is waiting in (absent_lock.py:23)."
    (tmp_path / "log_0").write_text(f"{head}[rank0]: RuntimeError: Ranks 1 failed to pass monitoredBarrier in 9 ms\n")
    assert "Ranks 1 had not called it" in errors.text(lock, tmp_path)


def row(tool: str, right: bool, seconds: float | None = None) -> Row:
    return Row("a", "mismatch", False, tool, "hung", right, right, right, seconds, False, "")


def test_a_loss_is_told_with_the_tools_that_are_right():
    said = table.losses([row(VERDICT, False), row("stacks", True), row("DETAIL", False)])
    assert "the verdict has neither right; right: stacks." in said
    assert "On *mismatch*, another tool has more programs right" in said
    assert "DETAIL told it sooner" in table.losses([row(VERDICT, True, 9.0), row("DETAIL", True, 1.0)])
    assert table.losses([row(VERDICT, True), row("stacks", True)]).startswith("In none")


def test_a_false_alarm_is_told_with_its_program():
    alarmed = Row("slow", "slow", True, "DETAIL", "failed", False, False, False, None, True, "")
    assert table.alarms([alarmed, row(VERDICT, True)]) == "- False alarms of DETAIL: `slow`."


def test_results_are_one_json_row_a_line(tmp_path):
    rows = [row(VERDICT, True), row("stacks", False, 1.5)]
    bench.save(rows, tmp_path / "new" / "rows.json")
    assert bench.load(tmp_path / "new" / "rows.json") == rows
    assert len(json.loads((tmp_path / "new" / "rows.json").read_text())) == 2


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["torchrun", "forked"])
def test_the_verdict_is_right_on_some_of_them(launcher):
    names = ["exit_sys", "mismatch_branches", "slow_rank", "absent_lock"]
    rows = list(bench.run(cases(names), [VERDICT], launcher, at_once=2))
    assert [row for row in rows if not (row.rank and row.line)] == []
    assert [row for row in rows if row.alarm] == []
    assert all(row.seconds for row in rows if row.outcome == "hung")


@pytest.mark.slow
def test_the_other_tools_find_what_they_are_made_for():
    rows = list(bench.run(cases(["mismatch_branches"]), list(bench.THEIRS), "forked", at_once=2))
    assert {row.tool for row in rows} == {"stacks", "flight recorder", "DETAIL", "monitored_barrier"}
    assert [row for row in rows if row.tool in ("stacks", "flight recorder", "DETAIL") and not row.rank] == []
