"""What a person sees in a notebook while ranks run: one line below the cell, which ends as the time it took."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator

SWITCH = "BARRIER_LAB_PROGRESS"  # "off" where nobody watches, as in the build of the book
EVERY = 0.5  # seconds between two texts

Show = Callable[[Callable[[], str]], None]  # takes what to call for the text, and calls it only when a text is due

_handles: dict[str, object] = {}  # by the request to run a cell: a cell with ten runs has one line, not ten


@contextlib.contextmanager
def watch(name: str) -> Iterator[Show | None]:
    """Show that ``name`` runs, as long as the block lasts; None where there is no notebook to show it in."""
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
    """The kernel's shell, if this is the thread in which it runs cells."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    main = threading.current_thread() is threading.main_thread()
    return shell if main and hasattr(shell, "kernel") and os.environ.get(SWITCH) != "off" else None


def _line(cell: str, text: str) -> Callable[[str], None]:
    """The line of a cell, begun with ``text`` if it has none yet: what writes it anew."""
    from IPython.display import display

    def write(text: str) -> None:
        _handles[cell].update({"text/plain": text}, raw=True)

    if cell in _handles:
        write(text)
    else:
        _handles.clear()
        _handles[cell] = display({"text/plain": text}, raw=True, display_id=True)
    return write
