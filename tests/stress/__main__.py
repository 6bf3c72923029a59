"""Does everything hold on a busy machine?  Notebooks beside other work, and every script many times.

python -m tests.stress                                all of it; some hours on two cores
python -m tests.stress --only cost --rounds 1         one lesson and its scripts
python -m tests.stress --what scripts --runs 10
"""

import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path

from tests.left_over import assert_nothing_left, marked_environment
from tests.stress.experiments import check, variants
from tests.stress.load import busy_machine, start

ROOT = Path(__file__).resolve().parent.parent.parent
NOTEBOOK_LIMIT = 1800  # seconds for a whole notebook


def main() -> int:
    """Run what was asked for; 1 if anything failed."""
    options = arguments()
    failed: list[tuple[str, str]] = []
    environment = marked_environment()
    if options.what in ("all", "notebooks"):
        with busy_machine(options.busy, environment):
            failed += notebooks(options, environment)
    if options.what in ("all", "scripts"):
        failed += scripts(options)
    try:
        assert_nothing_left(environment)
    except AssertionError as error:
        failed.append(("processes", str(error)))
    print(f"\n{len(failed)} failures" + ":" * bool(failed))
    for name, said in failed:
        print(f"  {name:28} {said}")
    return 1 if failed else 0


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser("python -m tests.stress", description=__doc__.splitlines()[0])
    parser.add_argument("--what", choices=("all", "notebooks", "scripts"), default="all")
    parser.add_argument("--only", nargs="*", default=[], help="lessons or scripts whose names begin so")
    parser.add_argument("--rounds", type=int, default=3, help="executions of each notebook")
    parser.add_argument("--runs", type=int, default=100, help="runs of each script")
    parser.add_argument("--busy", type=int, default=4, help="processes that only compute, beside the notebooks")
    return parser.parse_args()


def wanted(name: str, only: list[str]) -> bool:
    return not only or any(name.startswith(begin) for begin in only)


def notebooks(options: argparse.Namespace, environment: dict[str, str]) -> list[tuple[str, str]]:
    """Execute each notebook some times: name and sentence of each failure."""
    failed = []
    for number in range(1, options.rounds + 1):
        for path in pages():
            if wanted(path.stem, options.only):
                began = time.monotonic()
                found = notebook(path, environment)
                failed += [(f"{path.stem}, round {number}", said) for said in found]
                report(f"{path.stem}, round {number}", time.monotonic() - began, found)
    return failed


def pages() -> list[Path]:
    """The lessons, and the other pages of the book that run something."""
    found = [*(ROOT / "notebooks").glob("*.md"), *(ROOT / "book").glob("*.md")]
    return sorted(path for path in found if "{code-cell}" in path.read_text())


def notebook(path: Path, environment: dict[str, str]) -> list[str]:
    """Execute one notebook in a process of its own: what failed in it."""
    command = [sys.executable, "-m", "tests.stress.notebook", str(path)]
    process = start(command, environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        told, errors = process.communicate(timeout=NOTEBOOK_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        return [f"not over after {NOTEBOOK_LIMIT} s"]
    return json.loads(told) if process.returncode == 0 else [f"could not be executed: {errors[-300:]}"]


def scripts(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Run each script many times, its variants in turn, four at a time: name and sentence of each failure."""
    failed: list[tuple[str, str]] = []
    for name, known in variants().items():
        for variant in known if wanted(name, options.only) else []:
            began = time.monotonic()
            title, found = check(name, variant, math.ceil(options.runs / len(known)))
            failed += [(title, said) for said in found]
            report(title, time.monotonic() - began, found)
    return failed


def report(name: str, seconds: float, found: list[str]) -> None:
    """One line, and one for each failure, at once: a whole round takes long."""
    print(f"{name:60} {seconds:6.0f} s  {'failed' if found else 'passed'}", flush=True)
    for said in found[:5]:
        print(f"    {said}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
