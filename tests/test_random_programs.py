"""On random programs the library says who waits for whom as an independent count does."""

import pytest
from random_oracle import Undefined, Waiting, expect
from random_programs import draw, run_programs, show

pytestmark = pytest.mark.slow

SEEDS = range(1, 21)


@pytest.fixture(scope="module")
def differences() -> dict[int, str]:
    """What differs, with the program, for each seed."""
    found = run_programs(list(SEEDS), at_once=10)
    return {seed: "\n".join([*wrong, show(program)]) if wrong else "" for seed, program, _, _, wrong in found}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_library_says_who_waits_in_the_random_program(seed: int, differences: dict[int, str]) -> None:
    assert differences[seed] == "", differences[seed]


def test_the_programs_end_in_each_of_the_three_ways() -> None:
    assert {draw(seed)[1].outcome for seed in SEEDS} == {"completed", "failed", "hung"}


def test_a_seed_always_draws_the_same_program() -> None:
    assert draw(5) == draw(5)
    assert draw(5) != draw(6)


def _program(*main: list, groups: list | None = None) -> dict:
    return {"size": len(main), "groups": groups or [list(range(len(main)))], "main": main, "side": [[] for _ in main]}


def test_the_count_knows_that_a_send_waits_for_its_recv() -> None:
    first = Waiting(0, False, "send", (0, 1), None, 1, 2, awaited=(1,))
    second = Waiting(1, False, "recv", (0, 1), None, 0, 1, awaited=(0,))
    assert expect(_program([["send", 1, 2]], [["recv", 0, 1]])).waits == {first, second}


def test_the_count_knows_that_a_broadcast_goes_down_a_tree() -> None:
    call = ["call", "broadcast", 0, 0]
    late = expect(_program([call], [["stuck"], call], [call], [call]))  # rank 1 would pass it on to rank 3
    assert {wait.rank for wait in late.waits} == {0, 3}
    assert {wait.awaited for wait in late.waits} == {(1,)}


def test_the_count_knows_that_who_needs_a_rank_that_left_fails() -> None:
    gone = expect(_program([["leave", "exit3"]], [["recv", 0, 0]], [["stuck"]]))
    assert (gone.outcome, gone.left, gone.failed, gone.waits) == ("failed", {0}, {1}, set())


def test_the_count_refuses_what_gloo_leaves_undefined() -> None:
    barrier = ["call", "barrier", 0, 0]
    with pytest.raises(Undefined):
        expect(_program([barrier], [["leave", "exit0"]], [["stuck"]]))
