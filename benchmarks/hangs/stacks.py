"""The rank whose stack is the odd one out, as one reads it with py-spy."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.hangs.cases import Case, ranks

from barrier_lab.english import listed

TOOL = "stacks"
_PY_SPY = re.compile(r"^ +(.+) \((.+):(\d+)\)$")
_FAULTHANDLER = re.compile(r'^  File "(.+)", line (\d+) in (.+)$')
_WAITS = re.compile(r"torch[/\\]distributed[/\\]|torch[/\\]nn[/\\]parallel[/\\]|torch[/\\]autograd[/\\]graph")

Frame = tuple[str, str, int]  # function, file, line


def py_spy() -> str | None:
    """The path of py-spy, if it is installed."""
    return shutil.which("py-spy", path=str(Path(sys.executable).parent)) or shutil.which("py-spy")


def take(case: Case, folder: Path) -> dict[int, list[Frame]]:
    """The frames of each rank's main thread, innermost first, taken now: by py-spy, else by faulthandler."""
    return {rank: _take(rank, folder) for rank in range(ranks(case))}


def _take(rank: int, folder: Path) -> list[Frame]:
    path, pid = py_spy(), folder / f"pid_{rank}"
    if path and pid.exists():
        dump = [path, "dump", "--pid", pid.read_text(), "--full-filenames"]
        done = subprocess.run(dump, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            (folder / f"py_spy_{rank}").write_text(done.stdout)
            return _main_thread(done.stdout.split("\nThread ")[1:], _py_spy_frame)
    written = folder / f"stacks_{rank}"
    return _main_thread(written.read_text().split("\n\n"), _faulthandler_frame) if written.exists() else []


def _main_thread(threads: list[str], frame) -> list[Frame]:
    """The frames of the thread that runs the program's top level; faulthandler has it last, py-spy first."""
    read = [[found for line in thread.splitlines() if (found := frame(line))] for thread in threads]
    return next((frames for frames in read if any(name == "<module>" for name, _, _ in frames)), [])


def _py_spy_frame(line: str) -> Frame | None:
    found = _PY_SPY.match(line)
    return (found[1], found[2], int(found[3])) if found else None


def _faulthandler_frame(line: str) -> Frame | None:
    found = _FAULTHANDLER.match(line)
    return (found[3], found[1], int(found[2])) if found else None


def text(case: Case, frames: dict[int, list[Frame]]) -> str:
    """Who is the odd one, in the words of the verdict: a rank that is in no collective, else one on another line."""
    places = {rank: _place(case, own) for rank, own in frames.items()}
    inside = {rank: any(_WAITS.search(file) for _, file, _ in own) for rank, own in frames.items()}
    away = [rank for rank, within in inside.items() if not within]
    said = [f"Rank {rank} is waiting in {places[rank]}." for rank in frames if rank not in away]
    if away and len(away) < len(frames):
        return " ".join([*(f"Rank {rank} had not called; it was in {places[rank]}." for rank in away), *said])
    lines: dict[str, list[int]] = {}
    for rank, place in places.items():
        lines.setdefault(place, []).append(rank)
    if len(lines) == 1:
        return " ".join(said)  # all stacks are alike
    differ = ", ".join(f"{place} on rank{'s' * (len(own) > 1)} {listed(map(str, own))}" for place, own in lines.items())
    return " ".join([f"The stacks differ: {differ}.", *_odd_one(list(lines.values()))])


def _odd_one(lines: list[list[int]]) -> list[str]:
    """A sentence about the one rank that is not where all others are; none if there is no such rank."""
    few, *many = sorted(lines, key=len)
    odd = len(few) == 1 and len(many) == 1 and len(many[0]) > 1
    return [f"Rank {few[0]} had not come to where the others are."] if odd else []


def _place(case: Case, frames: list[Frame]) -> str:
    """ "recv (program.py:12)": the innermost line of the program, and what it has called."""
    called = "?"
    for name, file, line in frames:
        if Path(file).name == case.path.name:
            return f"{called if called != '?' else name} ({case.path.name}:{line})"
        called = called if name.endswith("wrapper") else name  # torch decorates its collectives
    return f"{called} (no line of the program)"
