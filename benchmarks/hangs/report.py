"""What a tool said of a run, and whether it was right."""

import re
from dataclasses import asdict, dataclass

from benchmarks.hangs.cases import Case, ends_well
from judge import (  # put on the path by ``cases``
    DIFFER,
    KINDS,
    guilt_faults,
    mentioned,
    named,
    sentences,
    tells_difference,
)

VERDICT = "verdict"  # our own tool


@dataclass
class Report:
    """``text`` has the words of the verdict, so that one judge reads all tools."""

    tool: str
    outcome: str
    text: str
    seconds: float | None = None  # from the stall until it was told
    alarm: bool = False  # a healthy program: it was told to hang, or ended by the tool


@dataclass
class Row:
    """One case and one tool in the results."""

    case: str
    kind: str
    ends_well: bool
    tool: str
    outcome: str
    rank: bool
    line: bool
    kind_right: bool
    seconds: float | None
    alarm: bool
    text: str

    def to_dict(self) -> dict:
        """The row for the file of results."""
        return asdict(self)


def score(case: Case, report: Report) -> Row:
    """Compare a report with what the header of the program asks for."""
    said = sentences(report.text)
    right = report.outcome == case.outcome and bool(report.text or ends_well(case))
    return Row(
        case=case.path.stem,
        kind=case.kind,
        ends_well=ends_well(case),
        tool=report.tool,
        outcome=report.outcome,
        rank=right and _rank(case, said),
        line=right and _lines(case, said),
        kind_right=right and _kind(case, report),
        seconds=None if report.seconds is None else round(report.seconds, 1),
        alarm=ends_well(case) and (report.alarm or not right),
        text=report.text,
    )


def _rank(case: Case, said: list[str]) -> bool:
    """The guilty ranks are accused and no other; where two calls differ, both ranks are named as differing."""
    differing = {rank for rank, _ in case.differ}
    differ = not differing or any(DIFFER.search(sentence) and differing <= mentioned(sentence) for sentence in said)
    return differ and not guilt_faults(case, said)


def _lines(case: Case, said: list[str]) -> bool:
    differ = not case.differ or any(tells_difference(sentence, case.differ) for sentence in said)
    return differ and all(named(said, rank, place) for rank, place in case.lines)


def _kind(case: Case, report: Report) -> bool:
    """The words of this kind of fault; the words of the header besides are asked of the verdict only."""
    own = report.tool == VERDICT
    wanted = [KINDS[case.kind], *(case.says if own else [])]
    unwanted = case.unsaid if own else []
    return all(re.search(p, report.text) for p in wanted) and not any(re.search(p, report.text) for p in unwanted)
