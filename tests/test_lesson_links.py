"""What happened in a run leads to the lesson on it, in the terminal and on the page."""

import io
import re
import sys

import made_traces as made
import pytest
from conftest import ROOT

from barrier_lab import load
from barrier_lab.diagnose.lesson import lesson
from barrier_lab.display import html, terminal

PAST = 'Thread 0x1 (most recent call first):\n  File "/home/reader/scripts/made.py", line 9 in worker\n'


def group_of_two(directory):
    members = {"group": "1"}
    return made.write(directory, [made.rank(made.barrier(0.1, None, **members)), made.rank(ended=0.2)], outcome="hung")


def straggler(directory):
    late = made.rank(made.sleep(0.0, 2.0), made.barrier(2.0, 2.1), ended=2.2)
    return made.write(directory, [made.rank(made.barrier(0.1, 2.1), ended=2.2), late])


def address_in_use(directory):
    error = ("DistNetworkError", "The server socket has failed to listen: EADDRINUSE", 8)
    return made.write(directory, [made.rank(ended=0.5, error=error), made.rank(ended=0.5)], outcome="failed")


def prompt(directory):
    return made.write(directory, [made.rank(made.barrier(0.1, 0.2), ended=0.3) for _ in range(2)])


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (made.one_sided, "one_sided"),
        (made.killed_peer, "one_sided"),
        (made.mismatch, "ordering"),
        (group_of_two, "subgroups"),
        (straggler, "slowest_rank"),
        (address_in_use, "ports_and_orphans"),
        (prompt, None),
    ],
)
def test_what_happened_leads_to_its_lesson(tmp_path, monkeypatch, write, name):
    run = load(write(tmp_path))
    assert lesson(run.trace) == name
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    terminal.conclude(run)
    said = sys.stdout.getvalue()
    assert ("More about this: lesson" in said) == (name is not None)
    if name:
        assert said.rstrip().endswith(f"lesson {name} of the book")
        assert (ROOT / "notebooks" / f"{name}.md").exists()


def test_a_run_in_a_notebook_links_the_lesson_on_its_fault_and_none_if_all_is_well(tmp_path):
    hung = load(made.one_sided(tmp_path / "hung"))
    assert '<a href="../notebooks/one_sided.md">' in html.to_html(hung.trace, hung.outcome, hung.verdict)
    well = load(straggler(tmp_path / "well"))
    assert "bl-more" not in html.to_html(well.trace, well.outcome, well.verdict)


def test_each_case_that_the_page_for_emergencies_names_is_in_the_hang_bench():
    page = (ROOT / "book" / "my_job_hangs.md").read_text()
    rows = re.findall(r"^Reproduced by\n: (.*) in the {ref}`hang bench", page, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert len(rows) >= 20
    missing = [name for name in named if not (ROOT / "benchmarks" / "hangs" / "programs" / f"{name}.py").exists()]
    assert missing == []
