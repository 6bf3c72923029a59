"""Keep a screen up to date with what every rank of a recorded job is doing, and with the verdict."""

import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from barrier_lab.display.terminal import COLOURS, doing
from barrier_lab.run_directory import traces

EVERY = 1.0  # seconds between two looks at the traces' last events
SHARE = 0.2  # of the time at most, for reading whole traces, which may hold 64 MB each


def follow(directories: list[Path], load: Callable):
    """Follow a job until it has ended or Ctrl-C is pressed.  Returns the run as last loaded.

    ``load``: loads the run in the directories, one a node.  Where the output is no terminal, each new verdict is
    printed instead.
    """
    console = Console(highlight=False)
    finished, spent = _timed(load, directories)
    with Live(console=console, refresh_per_second=4, transient=True, auto_refresh=console.is_terminal) as live:
        said, read = None, time.monotonic()
        try:
            while finished.trace.running:
                if finished.verdict != said and not console.is_terminal:
                    console.print(f"{finished.outcome}: {finished.verdict}", soft_wrap=True)
                said = finished.verdict
                live.update(_screen(directories, finished))
                time.sleep(EVERY)
                if time.monotonic() - read > spent / SHARE:
                    finished, spent = _timed(load, directories)
                    read = time.monotonic()
        except KeyboardInterrupt:
            pass
        live.update("")
    return finished


def _timed(load: Callable, directories: list[Path]) -> tuple:
    begin = time.monotonic()
    loaded = load(*directories)
    loaded.verdict  # noqa: B018  computed once and kept
    return loaded, time.monotonic() - begin


def _screen(directories: list[Path], finished) -> Group:
    """A row per rank, and the verdict below."""
    paths = {rank: path for directory in directories for rank, path in traces(directory).items()}
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("rank", justify="right")
    table.add_column("now")
    for rank in range(max([finished.trace.world_size, *(number + 1 for number in paths)])):
        said = doing(paths[rank]) if rank in paths else "has not made a process group yet"
        table.add_row(Text(str(rank), style=f"bold {COLOURS[rank % len(COLOURS)]}"), said)
    colour = "red" if finished.outcome == "hung" else "green"
    return Group(table, Text.assemble("\n", (finished.outcome, f"bold {colour}"), f": {finished.verdict}"))
