"""The programs of the bench.  Their headers have the format of ``tests/verdicts``, described in its README."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
sys.path.insert(0, str(HERE.parent.parent / "tests" / "verdicts"))

from judge import Case, read_cases  # noqa: E402

# Run at each build of the book: one of each kind that is quick to start, and three that are no hangs.
DOZEN = (
    "absent_lock", "exception_finally", "exception_thread", "exit_sys", "groups_opposite_order", "messages_wrong_tag",
    "mismatch_branches", "rank0_validates", "skipped_log", "healthy_branches", "slow_rank", "threads_one_group",
)  # fmt: skip


def cases(names: list[str] | None = None) -> list[Case]:
    """The cases of all programs, or of those named, by name."""
    paths = sorted(PROGRAMS.glob("*.py"))
    return [case for path in paths if not names or path.stem in names for case in read_cases(path)]


def ranks(case: Case) -> int:
    """How many ranks the program is for."""
    return int(str(case.options["world_size"]))


def ends_well(case: Case) -> bool:
    """Whether there is nothing to find: the program is healthy, or only slow."""
    return case.outcome == "completed"
