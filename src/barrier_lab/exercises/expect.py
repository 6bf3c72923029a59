"""Assertions about a finished run: returned values, order of collectives, and arbitrary conditions.

Each function raises :class:`Wrong` if the run is not as expected.
"""

import json
import math
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from barrier_lab.english import who

if TYPE_CHECKING:
    from barrier_lab.result import Run

FRESH = "\0fresh folder"  # as a parameter value in RUNS: replaced by the path of a new, empty folder


class Wrong(Exception):
    """Raised for a run that finished but is wrong: what was expected, what was found instead, and a hint."""

    def __init__(self, expected: str, had: str, hint: str) -> None:
        super().__init__(f"expected {expected}; {had}")
        self.expected, self.had, self.hint = expected, had, hint


def values(run: "Run", expected: object, hint: str) -> None:
    """Expect each rank's worker to return ``expected``, or ``expected(rank, world_size)`` if it is callable.

    Tuples equal lists, as in JSON.  Numbers are compared with a relative tolerance of 1e-6.
    """
    wanted = expected if callable(expected) else (lambda rank, world_size: expected)
    pairs = {r.rank: (_plain(wanted(r.rank, run.trace.world_size)), r.result) for r in run.ranks}
    _compare(pairs, "return", "returned", lambda value: "nothing" if value is None else repr(value), hint)


def calls(
    run: "Run",
    expected: list[str] | Callable[[int], list[str]],
    hint: str,
    *,
    group: str | None = "default",
    only: Collection[str] = (),
) -> None:
    """Expect each rank to call these collectives in this order, on ``group`` (None: any).  ``only``: names to count."""
    wanted = expected if callable(expected) else (lambda rank: expected)

    def called(rank: int) -> list[str]:
        spans = [s for s in run.spans(rank) if s.kind == "collective" and group in (None, s.group)]
        return [s.name for s in spans if not only or s.name in only]

    nothing = f"no {' or '.join(only) or 'collective'}"
    pairs = {r.rank: (list(wanted(r.rank)), called(r.rank)) for r in run.ranks}
    _compare(pairs, "call", "called", lambda names: ", ".join(names) or nothing, hint)


def that(condition: bool, expected: str, had: str, hint: str) -> None:
    """Expect an arbitrary condition.  ``expected`` and ``had`` describe it: "expected …", "rank 2 …"."""
    if not condition:
        raise Wrong(expected, had, hint)


def _compare(pairs: dict[int, tuple], do: str, did: str, say: Callable[[object], str], hint: str) -> None:
    """Raise for the ranks whose pair (wanted, had) differs; ranks that had the same value share a phrase."""
    wrong = {rank: pair for rank, pair in pairs.items() if not _same(*pair)}
    if not wrong:
        return
    first = next(iter(wrong.values()))[0]
    alike = [rank for rank, (wanted, _) in pairs.items() if _same(wanted, first)]
    had: dict[str, list[int]] = {}
    for rank, (_, value) in wrong.items():
        had.setdefault(say(value), []).append(rank)
    lots = [f"{who(ranks)} {did} {said}" for said, ranks in list(had.items())[:4]]
    raise Wrong(f"{who(alike)} to {do} {say(first)}", "; ".join(lots), hint)


def _plain(value: object) -> object:
    return json.loads(json.dumps(value))


def _same(a: object, b: object) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)
    return a == b
