"""Warn if a program defines a worker but exits without having run anything."""

import atexit
import contextlib
import inspect
import os
import sys
from pathlib import Path
from types import FunctionType, ModuleType

_used = False


def watch() -> None:
    """Check the program at exit."""
    atexit.register(_complain, os.getpid())


def used() -> None:
    """Note that something was run, so that no warning is printed."""
    global _used
    _used = True


def _complain(process: int) -> None:
    program = sys.modules.get("__main__")
    if _used or os.getpid() != process or not _forgets(program):
        return
    name = _file_of(program.worker).name
    with contextlib.suppress(Exception):  # standard error may be closed
        print(
            f"{name} defines worker, but nothing has run it: end the file with "
            f'if __name__ == "__main__": main(worker), or use python -m barrier_lab run {name}.',
            file=sys.stderr,
        )


def _forgets(program: ModuleType | None) -> bool:
    """Whether the program is a file that uses this package and defines a worker, and ended normally on rank 0."""
    names = dict(vars(program)) if program else {}
    worker = names.get("worker")
    parent = getattr(sys.modules.get("multiprocessing"), "parent_process", lambda: None)()
    return (
        isinstance(worker, FunctionType)
        and worker.__module__ == "__main__"
        and _file_of(worker).is_file()  # not a notebook cell or the interactive prompt
        and any(map(_is_ours, names.values()))
        and parent is None  # else a child process that imported the file
        and not hasattr(sys, "last_type")  # else it ended with an exception, which says more
        and not sys.flags.interactive
        and os.environ.get("RANK", "0") == "0"
    )


def _file_of(worker: FunctionType) -> Path:
    """The file that defines a function; the main module's ``__file__`` is already gone at exit."""
    return Path(inspect.unwrap(worker).__code__.co_filename)


def _is_ours(value: object) -> bool:
    name = value.__name__ if isinstance(value, ModuleType) else ""
    if isinstance(value, FunctionType | type):
        name = value.__module__
    return name.partition(".")[0] == "barrier_lab"
