"""The verdict is right on programs of the shape of public reports: one test a case, as the headers ask."""

import pytest
from verdicts import judge

pytestmark = pytest.mark.slow

CASES = judge.cases()


@pytest.fixture(scope="session")
def told(request) -> dict[str, tuple[str, str]]:
    """Outcome and verdict of every chosen case, by name: all are run at once, since they mostly wait."""
    chosen = {item.callspec.params["case"].name for item in request.session.items if _is_case(item)}
    found = judge.run_all([case for case in CASES if case.name in chosen])
    return {case.name: (outcome, verdict) for case, outcome, verdict in found}


def _is_case(item: pytest.Item) -> bool:
    return item.path.name == "test_verdicts.py" and hasattr(item, "callspec") and "case" in item.callspec.params


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_verdict_is_right_on(case: judge.Case, told: dict[str, tuple[str, str]]) -> None:
    outcome, verdict = told[case.name]
    assert judge.judge(case, outcome, verdict) == [], verdict


def test_there_are_sixty_cases_and_fifteen_of_them_end_well() -> None:
    assert len(CASES) >= 60
    assert sum(case.outcome == "completed" for case in CASES) >= 15


def test_each_kind_has_two_cases() -> None:
    counts = {kind: sum(case.kind == kind for case in CASES) for kind in judge.KINDS}
    assert min(counts.values()) >= 2, counts


SPEAKS = [
    ("Rank 1 had not called barrier; it was at f.py:3 (in read).", {1}),
    ("Rank 0 is waiting in its 1st barrier (f.py:3) that rank 1 had not called.", {1}),
    ("Ranks 0-2 and 5 had finished at 1.00 s.", {0, 1, 2, 5}),
    ("Rank 0 is waiting in its 1st recv from rank 1 with tag 2 (f.py:3).", set()),
    ("Rank 0 is waiting in its 1st barrier on the group of ranks 0 and 2.", set()),
    ("Rank 0 is waiting for rank 1, which had not called recv.", {1}),
]


@pytest.mark.parametrize(("sentence", "ranks"), SPEAKS)
def test_the_judge_knows_whom_a_sentence_accuses(sentence: str, ranks: set[int]) -> None:
    assert judge.accused(sentence, judge.MAY_WAIT) == ranks


def test_the_judge_finds_each_fault() -> None:
    case = next(case for case in CASES if case.name == "several_files-case=lock")
    assert len(judge.judge(case, "completed", "")) >= 4
