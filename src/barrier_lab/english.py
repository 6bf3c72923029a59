"""Format numbers and lists in English."""

from collections.abc import Iterable


def ordinal(n: int) -> str:
    """1 -> "1st", 12 -> "12th"."""
    ending = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def times(n: int) -> str:
    """1 -> "once", 2 -> "twice", 3 -> "3 times"."""
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def listed(items: Iterable[str]) -> str:
    """ "a, b and c"."""
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def who(ranks: Iterable[int]) -> str:
    """[3] -> "rank 3"; [0, 1, 2, 5] -> "ranks 0-2 and 5"."""
    runs: list[list[int]] = []
    for rank in sorted(ranks):
        if runs and runs[-1][-1] == rank - 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    parts = []
    for run in runs:
        parts += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else [str(rank) for rank in run]
    single = len(runs) == 1 and len(runs[0]) == 1
    return f"{'rank' if single else 'ranks'} {listed(parts)}"
