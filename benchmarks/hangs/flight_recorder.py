"""What PyTorch's flight recorder says: the dumps of all ranks, analysed as torchfrtrace does."""

import argparse
import contextlib
import pickle
import re
from pathlib import Path

from benchmarks.hangs.cases import Case, ranks

TOOL = "flight recorder"


def text(case: Case, folder: Path) -> str:
    """The first finding of the analysis in each group, in the words of the verdict; its error if it has none."""
    try:
        first = {found.group_id: found for found in reversed(_findings(case, folder))}
        return " ".join(_tell(case, found) for found in first.values())
    except Exception as error:  # the analysis does not know what gloo records of messages, for example
        return f"torchfrtrace failed: {type(error).__name__}: {error}."


def _findings(case: Case, folder: Path) -> list:
    """The collectives that do not match or that ranks have not called, in the order of the analysis."""
    from torch.distributed.flight_recorder.components import builder

    dumps = {}
    for rank in range(ranks(case)):
        with contextlib.suppress(FileNotFoundError):
            dumps[f"fr_{rank}"] = pickle.loads((folder / f"fr_{rank}").read_bytes()) | {"rank": rank, "host_name": ""}
    if not dumps:
        return []
    options = argparse.Namespace(
        verbose=False, just_print_entries=False, allow_incomplete_ranks=True, mismatch_cap=10, print_stack_trace=True
    )
    builder.logger.logger.disabled = True  # it prints what is returned as well
    found = builder.build_db(dumps, options, next(iter(dumps.values()))["version"])
    return [one for one in found.collectives if one.missing_ranks or one.mismatch_collectives]


def _tell(case: Case, found) -> str:
    name = _name(found.collective_name)
    if found.missing_ranks:
        waiting = min(found.expected_ranks - set(found.missing_ranks), default=0)
        missing = " and ".join(map(str, sorted(found.missing_ranks)))
        return f"Ranks {missing} had not called {name}; rank {waiting} is waiting in it{_place(case, found)}."
    one = min(found.expected_ranks - set(found.mismatch_collectives), default=0)
    others = [
        f"{_name(other.collective_name)}{_place(case, other)} on rank {rank} ({other.type_of_mismatch})"
        for rank, other in found.mismatch_collectives.items()
    ]
    return f"The calls differ: {name}{_place(case, found)} on rank {one}, {', '.join(others)}."


def _name(recorded: str) -> str:
    return re.sub(r"^\w+:", "", recorded)


def _place(case: Case, found) -> str:
    lines = [frame["line"] for frame in found.collective_frames if Path(frame["filename"]).name == case.path.name]
    return f" ({case.path.name}:{lines[0]})" if lines else ""
