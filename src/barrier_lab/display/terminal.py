"""Terminal output of a run: the ranks' lines, what each rank is doing now, and the result."""

import contextlib
import errno
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from barrier_lab.diagnose import waiting_times
from barrier_lab.diagnose.lesson import lesson
from barrier_lab.run_directory import traces
from barrier_lab.trace.model import Trace

COLOURS = ("blue", "dark_orange3", "green", "magenta")
_TAIL = 4096  # bytes at the end of a trace that contain at least its last event
_BLANKS = 1 << 16  # most blank bytes after it while the rank writes (trace_file.CHUNK)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let ``cli`` handle a closed output pipe."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


@contextlib.contextmanager
def watch(quiet: bool) -> Iterator[tuple]:
    """Yield the callbacks ``on_line`` and ``on_tick`` for a launch.  ``quiet``: print nothing on stdout."""
    errors = _Console(stderr=True, highlight=False)
    lines = _Console(highlight=False, soft_wrap=True)
    if quiet or not errors.is_terminal:
        yield (None if quiet else lambda *line: _print(lines, *line)), None
        return
    with Live(
        console=errors, refresh_per_second=5, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as live:
        shown = errors if lines.is_terminal else lines  # on the same terminal, rich must coordinate both
        yield (lambda *line: _print(shown, *line)), _ticker(live)


def _print(console: Console, rank: int, t: float | None, stream: str, text: str) -> None:
    moment = " " * 10 if t is None else f"{t:8.3f} s"
    line = Text.assemble((f"{moment}  ", "dim"), (f"rank {rank}", f"bold {COLOURS[rank % len(COLOURS)]}"), f" | {text}")
    if stream == "err":
        line.stylize("italic", len(moment))
    console.print(line)


def _ticker(live: Live):
    last = 0.0

    def tick(directory: Path) -> None:
        nonlocal last
        if time.monotonic() - last < 0.2:
            return
        last = time.monotonic()
        live.update(doing_now(directory))

    return tick


def doing_now(directory: Path) -> Text:
    """One line with what each rank is doing, from the last event of its trace."""
    paths = traces(directory).values()
    line = Text("now: ")
    for rank, path in enumerate(paths):
        line.append(f"rank {rank}", style=f"bold {COLOURS[rank % len(COLOURS)]}")
        line.append(f" {doing(path)}   ")
    return line


def doing(path: Path) -> str:
    """What a rank is doing, from the last events of its trace: ``in barrier 2 (train.py:33) 12.0 s``."""
    events = _last_events(path)
    now = time.monotonic() * 1e6
    ended: set[int] = set()
    for event in reversed(events):
        if event.get("cat") == "meta":
            return {"rank": "starting up", "end": "done"}.get(event["name"], "working")
        if event["ph"] == "E":
            ended.add(event["args"]["op"])
        elif event["ph"] == "B" and event["args"]["op"] not in ended:
            args = event["args"]
            where = f" ({Path(args['file']).name}:{args['line']})" if args.get("file") else ""
            ordinal = f" {args['seq']}" if args.get("seq") else ""
            return f"in {event['name']}{ordinal}{where} {(now - event['ts']) / 1e6:.1f} s"
    return "working" if events else "starting up"


def _last_events(path: Path) -> list[dict]:
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - _BLANKS - _TAIL))
        lines = file.read().rstrip()[-_TAIL:].split(b"\n")
    events = []
    for line in lines:
        with contextlib.suppress(ValueError):
            events.append(json.loads(line.rstrip(b",")))
    return [event for event in events if isinstance(event, dict)]


def show_waits(trace: Trace, file: TextIO | None = None) -> None:
    """Print how long each rank waited, where, and for which rank.  Prints nothing if no rank waited."""
    if lines := waiting_times.table(trace):
        print("", *lines, sep="\n", file=file or sys.stdout)


def conclude(finished) -> None:
    """Print the backend, outcome and verdict of a run."""
    console = _Console(highlight=False, soft_wrap=True)
    trace = finished.trace
    if not trace.ranks:
        console.print(finished.verdict)
        return
    ranks = "1 rank" if trace.world_size == 1 else f"{trace.world_size} ranks"
    backend = f"{trace.backend} because {trace.backend_reason}" if trace.backend else "backend unknown"
    console.print(Text(f"{ranks}, {backend}, torch {trace.torch or 'unknown'}", style="dim"))
    colour = "green" if finished.outcome == "completed" else "red"
    console.print(Text.assemble((finished.outcome, f"bold {colour}"), f": {finished.verdict}"))
    if name := lesson(trace):
        console.print(Text(f"More about this: lesson {name} of the book", style="dim"))
