"""The rank of this process, if it is one."""

from barrier_lab.errors import UsageError

rank: int | None = None


def refuse_in_a_rank(call: str) -> None:
    """Raise ``UsageError`` in a rank.  Ranks import the script, so starting ranks there would recurse endlessly."""
    if rank is not None:
        raise UsageError(f'{call} was called in rank {rank}: put it below if __name__ == "__main__":')
