"""Run cases through tools, a few at a time, and keep a row for each case and tool."""

import json
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.hangs import errors, flight_recorder, ours, stacks, theirs
from benchmarks.hangs.cases import Case
from benchmarks.hangs.report import VERDICT, Report, Row, score

LOOKED_AT = f"{stacks.TOOL} and {flight_recorder.TOOL}"  # both from one run
THEIRS: dict[str, Callable[[Case, Path, str], list[Report]]] = {
    LOOKED_AT: theirs.looked_at,
    errors.DETAIL: partial(theirs.timed_out, tool=errors.DETAIL),
    errors.MONITORED: partial(theirs.timed_out, tool=errors.MONITORED),
}
RUNS = (VERDICT, *THEIRS)
TOOLS = (VERDICT, stacks.TOOL, flight_recorder.TOOL, errors.DETAIL, errors.MONITORED)


def run(
    chosen: list[Case], runs: Sequence[str], launcher: str, at_once: int, stall: float = ours.STALL
) -> Iterator[Row]:
    """Run each case through each of the named runs; yields rows in this order.

    ``stall``: seconds without progress after which our own tool has a rank write its stacks.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what ignores Ctrl-C starts processes that ignore it
    jobs = [(case, name) for name in runs for case in chosen]
    with ThreadPoolExecutor(at_once) as pool:
        for rows in pool.map(lambda one: run_one(*one, launcher, stall), jobs):
            yield from rows


def run_one(case: Case, name: str, launcher: str, stall: float) -> list[Row]:
    """Run one case once."""
    with tempfile.TemporaryDirectory(prefix="hangs-") as folder:
        if name == VERDICT:
            reports = [ours.report(case, Path(folder), launcher, stall)]
        else:
            reports = THEIRS[name](case, Path(folder), launcher)
        return [score(case, report) for report in reports]


def save(rows: list[Row], path: Path) -> None:
    """Write the rows as JSON, a row a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[\n" + ",\n".join(json.dumps(row.to_dict(), ensure_ascii=False) for row in rows) + "\n]\n")


def load(path: Path) -> list[Row]:
    """Read what ``save`` has written."""
    return [Row(**row) for row in json.loads(path.read_text())]
