"""Tables of the results: the whole by tool, and each kind of fault by tool."""

from statistics import median

from benchmarks.hangs.bench import TOOLS
from benchmarks.hangs.report import VERDICT, Row


def summary(rows: list[Row]) -> list[list[str]]:
    """A row a tool: rank, line and kind right among the faulty programs, seconds, false alarms among the others."""
    found = [["", "rank right", "line right", "kind right", "seconds to tell", "false alarms"]]
    faulty = {row.case for row in rows if not row.ends_well}
    for tool in TOOLS:
        own = [row for row in rows if row.tool == tool and row.case in faulty]
        well = [row for row in rows if row.tool == tool and row.ends_well]
        if not own:
            continue
        times = [row.seconds for row in own if row.seconds is not None]
        right = [sum(row.rank for row in own), sum(row.line for row in own), sum(row.kind_right for row in own)]
        alarms = f"{sum(row.alarm for row in well)} of {len(well)}" if well else "not run"
        seconds = f"{median(times):.0f}" if times else "-"
        found.append([tool, *(f"{n} of {len(own)}" for n in right), seconds, alarms])
    return found


def by_kind(rows: list[Row]) -> list[list[str]]:
    """A row a kind of fault: how many programs, and in how many each tool had both rank and line."""
    tools = [tool for tool in TOOLS if any(row.tool == tool for row in rows)]
    found = [["kind of fault", "programs", *tools]]
    faulty = [row for row in rows if not row.ends_well]
    for kind in sorted({row.kind for row in faulty}):
        own = [row for row in faulty if row.kind == kind]
        count = len({row.case for row in own})
        found.append([kind, str(count), *(_both([row for row in own if row.tool == tool]) for tool in tools)])
    return found


def _both(rows: list[Row]) -> str:
    return str(sum(row.rank and row.line for row in rows)) if rows else "-"


def by_case(rows: list[Row]) -> list[list[str]]:
    """A row a program, for the rows of one tool."""
    found = [["program", "kind of fault", "outcome", "rank", "line", "seconds"]]
    for row in rows:
        seconds = "" if row.seconds is None else f"{row.seconds:.0f}"
        found.append([f"`{row.case}`", row.kind, row.outcome, _mark(row.rank), _mark(row.line), seconds])
    return found


def side_by_side(rows: list[Row]) -> list[list[str]]:
    """A row a program, a column a tool: what each has right."""
    tools = [tool for tool in TOOLS if any(row.tool == tool for row in rows)]
    found = [["program", *tools]]
    for case in sorted({row.case for row in rows}):
        own = {row.tool: row for row in rows if row.case == case}
        found.append([f"`{case}`", *(_right(own[tool]) if tool in own else "not run" for tool in tools)])
    return found


def _mark(right: bool) -> str:
    return "right" if right else "**wrong**"


def _right(row: Row) -> str:
    """ "rank and line", "rank", "line" or "neither"."""
    return " and ".join([*["rank"] * row.rank, *["line"] * row.line]) or "neither"


def lost(rows: list[Row]) -> list[tuple[Row, list[str]]]:
    """The programs in which our verdict misses the rank or the line, each with the tools that have both."""
    missed = [row for row in rows if row.tool == VERDICT and not (row.rank and row.line)]
    return [(row, [o.tool for o in rows if o.case == row.case and o.rank and o.line]) for row in missed]


def ahead(rows: list[Row]) -> list[str]:
    """The kinds of fault in which another tool has more programs right than the verdict."""
    head, *kinds = by_kind(rows)
    ours = head.index(VERDICT)
    return [row[0] for row in kinds if any(cell.isdigit() and int(cell) > int(row[ours]) for cell in row[ours + 1 :])]


def losses(rows: list[Row]) -> str:
    """In words: which programs the verdict has wrong, which tools have them right, and who is ahead where."""
    said = []
    for row, others in lost(rows):
        better = f"; right: {', '.join(others)}" if others else "; no other tool has it right either"
        said.append(f"- `{row.case}` ({row.kind}): the verdict has {_right(row)} right{better}.")
    said += [f"- On *{kind}*, another tool has more programs right than the verdict." for kind in ahead(rows)]
    said += [f"- `{row.case}`: a false alarm of the verdict." for row in rows if row.alarm and row.tool == VERDICT]
    faster = sorted({tool for _, tool in _faster(rows)})
    if faster:
        cases = sorted({case for case, _ in _faster(rows)})
        said.append(f"- {', '.join(faster)} told it sooner, and right, in {len(cases)} of the programs.")
    return "\n".join(said) or "In none of these programs was another tool ahead."


def alarms(rows: list[Row]) -> str:
    """In words: the programs that end well, and that a tool ended or told to hang."""
    own = {tool: [f"`{row.case}`" for row in rows if row.alarm and row.tool == tool] for tool in TOOLS}
    return "\n".join(f"- False alarms of {tool}: {', '.join(cases)}." for tool, cases in own.items() if cases)


def _faster(rows: list[Row]) -> list[tuple[str, str]]:
    """The programs and tools with a right answer sooner than that of the verdict."""
    ours = {row.case: row.seconds for row in rows if row.tool == VERDICT and row.seconds is not None}
    right = [row for row in rows if row.rank and row.line and row.seconds is not None and row.tool != VERDICT]
    return [(row.case, row.tool) for row in right if row.seconds < ours.get(row.case, 0)]


def lines(rows: list[Row]) -> list[str]:
    """Both tables as text."""
    return [*_text(summary(rows)), "", *_text(by_kind(rows))]


def markdown(table: list[list[str]]) -> str:
    """A table for the book."""
    head, *body = table
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *body])


def _text(table: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
