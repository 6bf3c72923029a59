"""The attempts of a job that torchrun restarted: a folder, and below it one named ``restart-N`` for each later one."""

import re
from pathlib import Path

from barrier_lab.trace.model import Rank, Trace

_NAME = re.compile(r"restart-(\d+)")
KNOWN = (
    "On gloo this is known: the attempts share the store of torchrun's agent, where a later attempt finds the "
    "addresses of an earlier one. Set TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 in the environment of torchrun, and each "
    "attempt gets a store of its own."
)


def attempts(directory: Path) -> list[Path]:
    """The folders of all attempts, the first one's first; ``directory`` alone if there was one."""
    later = [(int(found[1]), path) for path in directory.glob("restart-*") if (found := _NAME.fullmatch(path.name))]
    return [directory, *(path for _, path in sorted(later))]


def number(directory: Path) -> int:
    """1 for a first attempt, 2 for the folder ``restart-1``."""
    found = _NAME.fullmatch(directory.name)
    return int(found[1]) + 1 if found else 1


def known_cause(trace: Trace, outcome: str) -> str | None:
    """What is known of a later attempt whose ranks did not come together."""
    if number(trace.directory) == 1 or outcome == "completed" or trace.backend == "nccl":
        return None
    return KNOWN if any(map(_did_not_join, trace.ranks)) else None


def _did_not_join(rank: Rank) -> bool:
    error = rank.error or ""
    return not rank.started or rank.stuck_in == "init_process_group" or "connectFullMesh" in error
