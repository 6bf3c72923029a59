"""The attempts of a job that torchrun restarted: the run directory, with a subdirectory ``restart-N`` per restart."""

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
    """The directories of all attempts in order, starting with ``directory`` itself."""
    later = [(int(found[1]), path) for path in directory.glob("restart-*") if (found := _NAME.fullmatch(path.name))]
    return [directory, *(path for _, path in sorted(later))]


def number(directory: Path) -> int:
    """The number of an attempt: 1 for the first, 2 for ``restart-1``, and so on."""
    found = _NAME.fullmatch(directory.name)
    return int(found[1]) + 1 if found else 1


def known_cause(trace: Trace, outcome: str) -> str | None:
    """A known cause if the ranks of a restarted attempt did not join their process group, else None."""
    if number(trace.directory) == 1 or outcome == "completed" or trace.backend == "nccl":
        return None
    return KNOWN if any(map(_did_not_join, trace.ranks)) else None


def _did_not_join(rank: Rank) -> bool:
    error = rank.error or ""
    return not rank.started or rank.stuck_in == "init_process_group" or "connectFullMesh" in error
