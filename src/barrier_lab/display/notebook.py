"""Progress of a run in a notebook: one line below the cell, which ends up showing how long the run took."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator

SWITCH = "BARRIER_LAB_PROGRESS"  # "off" if nobody watches, as when building the book
EVERY = 0.5  # seconds between updates

Show = Callable[[Callable[[], str]], None]  # takes a function that returns the text, called only when an update is due

_handles: dict[str, object] = {}  # by execution request, so that a cell with ten runs has one line, not ten


@contextlib.contextmanager
def watch(name: str) -> Iterator[Show | None]:
    """Show progress of ``name`` during the block.  Yields None outside a notebook."""
    shell = _shell()
    if shell is None:
        yield None
        return
    began = last = time.monotonic()
    write = _line(shell.get_parent()["header"]["msg_id"], f"{name}: starting")

    def show(say: Callable[[], str]) -> None:
        nonlocal last
        if time.monotonic() >= last + EVERY:
            last = time.monotonic()
            write(f"{name}, {last - began:.0f} s: {say()}")

    try:
        yield show
    finally:
        write(f"{name}: over after {time.monotonic() - began:.1f} s")


def _shell():
    """The kernel's shell if this is the thread that runs cells, else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    main = threading.current_thread() is threading.main_thread()
    return shell if main and hasattr(shell, "kernel") and os.environ.get(SWITCH) != "off" else None


def _line(cell: str, text: str) -> Callable[[str], None]:
    """Show ``text`` in the progress line of a cell, and return a function that updates the line."""
    from IPython.display import display

    def write(text: str) -> None:
        _handles[cell].update({"text/plain": text}, raw=True)

    if cell in _handles:
        write(text)
    else:
        _handles.clear()
        _handles[cell] = display({"text/plain": text}, raw=True, display_id=True)
    return write
