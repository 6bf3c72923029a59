"""Classify how each rank ended, for the verdict, the text alternative and the figure."""

from typing import Literal

from barrier_lab.diagnose.waits import blocked_in
from barrier_lab.trace.model import Rank

End = Literal["killed", "raised", "exited", "absent", "returned", "vanished", "unreported", "none"]


def end_of(rank: Rank) -> End:
    """How a rank ended.

    "unreported" if its files are not here, "killed" by a signal, "raised" an exception, "exited" before its worker
    returned or with a nonzero code, "absent" from the common start, "returned" from its worker, "vanished" if its
    process is gone and recorded no end, or "none" if its files show no end.
    """
    if rank.unreported:
        return "unreported"
    if rank.signal:
        return "killed"
    if rank.error:
        return "raised"
    if rank.exit_code:
        return "exited"
    if not rank.started:
        return "absent"
    if rank.ended is not None:
        return "returned"
    if rank.vanished:
        return "vanished"
    return "none" if rank.exit_code is None else "exited"


def is_alive(rank: Rank) -> bool:
    """Whether a rank was still alive when the run was stopped, or when its files end."""
    if not rank.started or rank.signal or rank.exit_code is not None or rank.vanished or rank.unreported:
        return False
    return end_of(rank) == "none" or blocked_in(rank) is not None  # also if blocked at exit
