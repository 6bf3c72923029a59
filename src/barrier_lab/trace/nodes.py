"""Join the run directories of several nodes to one run.

Each node has a clock of its own.  The clocks are aligned at the releases of collectives in which ranks of both nodes
meet: these leave them at about the same moment, and none leaves one before every rank has entered it, which bounds
the offset of two clocks from both sides.
"""

import statistics
from dataclasses import dataclass, replace
from pathlib import Path

from barrier_lab import run_directory
from barrier_lab.english import listed
from barrier_lab.errors import UsageError
from barrier_lab.trace.dropped import read_dropped, read_pieces, restore
from barrier_lab.trace.model import ALL_MEET, Rank, Span, Trace
from barrier_lab.trace.reader import read

_WORST = {"hung": 0, "failed": 1, "interrupted": 2, "completed": 3}


@dataclass(frozen=True, slots=True)
class Offset:
    """Seconds by which a clock is ahead of the first node's."""

    seconds: float
    uncertainty: float  # seconds; nine tenths of the releases are as close to each other
    collectives: int  # from which it was computed


def read_nodes(directories: list[Path]) -> Trace:
    """Read the run directories of the nodes of one job.

    Raises ``FileNotFoundError`` if one holds no run, and ``UsageError`` if they are not of one job.
    """
    nodes = [read(directory) for directory in directories]
    if any(node.ranks for node in nodes):  # on another node, no process may have made a group
        chosen = [number for number, node in enumerate(nodes) if node.ranks]
        nodes, directories = [nodes[n] for n in chosen], [directories[n] for n in chosen]
    present = [set(run_directory.traces(directory)) for directory in directories]
    _refuse_other_jobs(directories, nodes, present)
    offsets = [_offset(nodes[0], present[0], node, there) for node, there in zip(nodes, present, strict=True)]
    for node, offset in zip(nodes[1:], offsets[1:], strict=True):
        if offset is not None:
            _shift(node, -offset.seconds)
    ranks = list(nodes[0].ranks)
    for node, there in zip(nodes[1:], present[1:], strict=True):
        for number in there:
            ranks[number] = node.ranks[number]
    _restore(ranks, directories, present)
    known = [node.outcome for node in nodes if node.outcome]
    stops = [node.stopped for node in nodes if node.stopped is not None]
    return replace(
        nodes[0],
        outcome=min(known, key=lambda outcome: _WORST.get(outcome, 0)) if len(known) == len(nodes) else None,
        ranks=ranks,
        running=any(node.running for node in nodes),
        stopped=max(stops) if stops else None,
        deadline=max((node.deadline for node in nodes if node.deadline is not None), default=None),
        groups={name: members for node in nodes for name, members in node.groups.items()},
        one_clock=all(offset is not None for offset in offsets[1:]),
        caveat=_told(offsets[1:]),
    )


def _refuse_other_jobs(directories: list[Path], nodes: list[Trace], present: list[set[int]]) -> None:
    sizes = {node.world_size for node in nodes}
    if len(sizes) > 1:
        raise UsageError(
            f"The folders are of different jobs, of {listed(map(str, sorted(sizes)))} ranks: give one job's."
        )
    seen: dict[int, Path] = {}
    for directory, there in zip(directories, present, strict=True):
        for number in sorted(there):
            if number in seen:
                raise UsageError(f"Rank {number} is in {seen[number]} and in {directory}: give one folder a node.")
            seen[number] = directory


def _offset(first: Trace, here: set[int], other: Trace, there: set[int]) -> Offset | None:
    """How far the clock of a node is ahead of the first node's; None if they share no completed collective."""
    ours, theirs = _completed(first, here), _completed(other, there)
    shared = ours.keys() & theirs.keys()
    if not shared:
        return None
    apart = [min(b.end for b in theirs[key]) - min(a.end for a in ours[key]) for key in shared]
    low = max(b.begin - a.end for key in shared for a in ours[key] for b in theirs[key])
    high = min(b.end - a.begin for key in shared for a in ours[key] for b in theirs[key])
    # Where one clock runs faster than the other one, the bounds of early and late calls exclude each other.
    seconds = min(max(statistics.median(apart), low), high) if low <= high else statistics.median(apart)
    deviations = sorted(abs(each - seconds) for each in apart)
    return Offset(seconds, deviations[len(deviations) * 9 // 10], len(shared))


def _completed(node: Trace, there: set[int]) -> dict[tuple, list[Span]]:
    """The completed calls of a node's ranks by group and number, where all ranks meet."""
    found: dict[tuple, list[Span]] = {}
    for number in there:
        for span in node.ranks[number].spans:
            if span.name in ALL_MEET and span.seq is not None and span.end is not None and span.error is None:
                found.setdefault((span.group, span.seq), []).append(span)
    return found


def _shift(node: Trace, seconds: float) -> None:
    """Add ``seconds`` to all times of a node."""
    for rank in node.ranks:
        for span in rank.spans:
            span.begin += seconds
            if span.end is not None:
                span.end += seconds
        for line in rank.output:
            line.t += seconds
        rank.thread_errors = [replace(error, t=error.t + seconds) for error in rank.thread_errors]
        rank.ended = None if rank.ended is None else rank.ended + seconds
        rank.last += seconds
    for name in ("stopped", "deadline"):
        if (moment := getattr(node, name)) is not None:
            setattr(node, name, moment + seconds)


def _restore(ranks: list[Rank], directories: list[Path], present: list[set[int]]) -> None:
    """Compare the dropped calls of ranks of different nodes, as ``reader`` does for those of one."""
    if not any(rank.dropped for rank in ranks):
        return
    paths = {n: path for directory in directories for n, path in run_directory.traces(directory).items()}
    for rank in ranks:
        rank.earlier = []
    restore(ranks, [read_dropped(n, read_pieces(paths[n]) if n in paths else []) for n in range(len(ranks))])


def _told(offsets: list[Offset | None]) -> str | None:
    """A sentence on the clocks."""
    parts = []
    for number, offset in enumerate(offsets, 2):
        if offset is None:
            continue
        way = "ahead of" if offset.seconds >= 0 else "behind"
        parts.append(f"node {number} is {abs(offset.seconds):.3f} s {way} node 1 (± {offset.uncertainty * 1e3:.1f} ms)")
    if not parts:
        return None
    shared = min(offset.collectives for offset in offsets if offset is not None)
    calls = f"{shared} collectives that they share" if shared > 1 else "the only collective that they share"
    return f"The clocks of the nodes are aligned at {calls}: {listed(parts)}."
