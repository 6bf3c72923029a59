"""Read the files of ``hang_report``: each rank's stacks, and the collectives in PyTorch's flight record.

They show less than a trace: no lines but those of the stacks, no messages, no ends of calls.
"""

import json
from pathlib import Path

from barrier_lab import run_directory
from barrier_lab.trace.model import Place, Rank, Span, Trace
from barrier_lab.trace.stacks import inside_torch_distributed, own_frames, stack_frames

UNKNOWN = (
    "These are the files of hang_report: they do not show earlier lines, sends and receives, "
    "how long a rank waited, or why one ended."
)
_UNREPORTED = "wrote no report: {it} made progress, had ended, or had no process group"


def read_reports(directory: Path) -> Trace | None:
    """The run that the reports in a directory describe; None if it holds none."""
    reports = [_load(path) for path in sorted(directory.glob("rank*.report.json"))]
    reports = [report for report in reports if report]
    if not reports:
        return None
    world_size = max(report["world_size"] for report in reports)
    by_rank = {report["rank"]: report for report in reports}
    begun = [e["time_created_ns"] for report in reports for e in _entries(report)]
    zero = min(begun, default=0)
    ranks = [_rank(directory, n, by_rank.get(n), zero) for n in range(world_size)]
    script = reports[0].get("script")
    return Trace(
        directory=directory,
        experiment=Path(script).stem if script else directory.name,
        script=script,
        parameters={},
        outcome="hung",
        message=None,
        backend=next((_backend(e) for report in reports for e in _entries(report)), None),
        backend_reason="the program chose it",
        world_size=world_size,
        torch=reports[0].get("torch"),
        wall_s=None,
        deadline=None,
        stopped=None,
        ranks=ranks,
        caveat=UNKNOWN,
    )


def _load(path: Path) -> dict | None:
    try:
        report = json.loads(path.read_text())
    except (OSError, ValueError):  # cut off
        return None
    whole = isinstance(report, dict) and all(isinstance(report.get(name), int) for name in ("rank", "world_size"))
    return report if whole else None


def _entries(report: dict) -> list[dict]:
    return (report.get("flight") or {}).get("entries", [])


def _backend(entry: dict) -> str:
    return entry["profiling_name"].partition(":")[0]


def _rank(directory: Path, number: int, report: dict | None, zero: int) -> Rank:
    if report is None:
        return Rank(rank=number, started=True, unreported=_UNREPORTED)
    rank = Rank(rank=number, started=True)
    frames = stack_frames(_stack(directory, number))
    if own := own_frames(frames, report.get("script"), ()):
        rank.stuck_at, rank.stuck_callers = own[0], tuple(own[1:])
    rank.spans = [_span(number, entry, zero) for entry in _entries(report)]
    rank.last = max((span.begin for span in rank.spans), default=0.0)
    if inside_torch_distributed(frames) and own:
        _block(rank.spans, own)
    return rank


def _stack(directory: Path, number: int) -> str:
    try:
        return run_directory.stack_of(directory, number).read_text(errors="replace")
    except FileNotFoundError:
        return ""


def _span(number: int, entry: dict, zero: int) -> Span:
    begin = (entry["time_created_ns"] - zero) / 1e9
    group, description = entry.get("process_group") or (str(entry["pg_id"]), "")
    sizes = entry.get("input_sizes") or [[]]
    return Span(
        rank=number,
        name=entry["profiling_name"].partition(":")[2] or entry["profiling_name"],
        kind="p2p" if entry.get("is_p2p") else "collective",
        group="default" if description == "default_pg" else group,
        seq=None if entry.get("is_p2p") else entry["collective_seq_id"],
        begin=begin,
        end=begin if entry.get("retired") or entry.get("state") == "completed" else None,
        blocked=False,
        tensor=str(sizes[0]),
        op=entry["record_id"],
    )


def _block(spans: list[Span], own: list[Place]) -> None:
    """Let the rank wait in its last call, at the line where its stack is."""
    waiting = [span for span in spans if span.end is None]
    if waiting:
        call = waiting[-1]
        call.blocked = True
        call.file, call.line, call.function = own[0].file, own[0].line, own[0].function
        call.callers = tuple(own[1:])
