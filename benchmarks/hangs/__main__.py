"""``python -m benchmarks.hangs [NAME …]``: run the bench, print a line a case and the table, save the rows."""

import argparse
import sys
from pathlib import Path

from benchmarks.hangs import bench, job, table
from benchmarks.hangs.cases import DOZEN, cases
from benchmarks.hangs.report import VERDICT, Row

RESULTS = job.ROOT / "_build" / "hangs.json"


def main() -> int:
    """Run what was asked for; 1 if our verdict misses a rank or a line more than it may, or gives a false alarm."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hangs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs to run (default: all)")
    parser.add_argument("--dozen", action="store_true", help="the programs that each build of the book runs")
    parser.add_argument("--run", action="append", choices=bench.RUNS, help="only this run, repeatable")
    parser.add_argument("--launcher", choices=list(job.LAUNCHERS), default="torchrun")
    parser.add_argument("--at-once", type=int, default=3, help="runs at a time; most of them wait (default 3)")
    parser.add_argument("--out", type=Path, default=RESULTS, help=f"file of results (default {RESULTS})")
    given = parser.parse_args()
    chosen = cases([*DOZEN] if given.dozen else given.names)
    rows: list[Row] = []
    for row in bench.run(chosen, given.run or bench.RUNS, given.launcher, given.at_once):
        rows.append(row)
        print(_line(row), flush=True)
        bench.save(rows, given.out)
    print("", *table.lines(rows), sep="\n")
    return int(any(row.alarm or not (row.rank and row.line) for row in rows if row.tool == VERDICT))


def _line(row: Row) -> str:
    wrong = [word for word, right in (("rank", row.rank), ("line", row.line), ("kind", row.kind_right)) if not right]
    said = f"wrong: {', '.join(wrong)}" if wrong else "right"
    alarm = ", FALSE ALARM" if row.alarm else ""
    text = f"\n      {row.outcome}: {row.text}" if wrong or row.alarm else ""
    return f"{row.case:32} {row.tool:18} {said}{alarm}{text}"


if __name__ == "__main__":
    sys.exit(main())
