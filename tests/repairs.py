"""Check an exercise with a solution that was changed: a repair that is none must be found out."""

from pathlib import Path

from barrier_lab import check
from barrier_lab.exercises.check import Result
from barrier_lab.script.source import SCRIPTS


def check_changed(name: str, folder: Path, old: str, new: str) -> Result:
    """Check the solution of the exercise ``name`` with ``old``, which it must hold, replaced by ``new``."""
    text = (SCRIPTS / "exercises" / name / "solution.py").read_text()
    assert old in text
    file = folder / "mine.py"
    file.write_text(text.replace(old, new))
    return check(name, file)
