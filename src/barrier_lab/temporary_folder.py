"""Temporary folders for runs without ``out``.

A folder is removed with its owner or when Python exits.  Those left by a killed process are removed by a later one.
"""

import contextlib
import os
import re
import shutil
import tempfile
import time
import weakref
from pathlib import Path

_NAME = re.compile(r"barrier_lab-(\d+)-\w+")
_OLD = 3600.0  # seconds; a process that seems to be gone may be running in another container


class Folder:
    """A new, empty folder, removed with this object."""

    def __init__(self) -> None:
        remove_abandoned(Path(tempfile.gettempdir()))
        self.path = Path(tempfile.mkdtemp(prefix=f"barrier_lab-{os.getpid()}-"))
        weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # not in a forked child that exits
        shutil.rmtree(path, ignore_errors=True)


def remove_abandoned(place: Path) -> None:
    """Remove the folders in ``place`` that are over an hour old and whose process is gone."""
    for path in place.glob("barrier_lab-*-*"):
        found = _NAME.fullmatch(path.name)
        with contextlib.suppress(OSError):
            if found and path.stat().st_mtime < time.time() - _OLD and not _is_running(int(found[1])):
                shutil.rmtree(path, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
