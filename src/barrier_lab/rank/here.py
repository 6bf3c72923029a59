"""Which rank this process is, if it is one."""

from barrier_lab.errors import UsageError

rank: int | None = None


def refuse_in_a_rank(call: str) -> None:
    """``UsageError`` in a rank: if ranks started ranks, which import the same file, there would be no end of them."""
    if rank is not None:
        raise UsageError(f'{call} was called in rank {rank}: put it below if __name__ == "__main__":')
