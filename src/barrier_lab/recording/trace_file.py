"""Append lines to a file so that each survives whatever ends the process, for the price of a copy in memory.

The file grows by chunks of blank lines that are mapped into memory, shared with the kernel; a line is copied over the
next blanks.  It is then in the kernel's hands, so SIGKILL cannot lose it; a kill in the middle of the copy leaves a
torn last line, as one in the middle of ``os.write`` does.  ``mmap.write`` is one step under the interpreter lock, so
threads cannot mix their lines, and a forked child cannot inherit a lock that it needs.  The blanks that are left are
removed by ``close``; after SIGKILL they stay, and are white space to JSON.

A chunk is written before it is mapped: so a full disk is an ``OSError`` then, and not a fatal signal (SIGBUS) at the
copy.  A file that cannot be mapped gets one ``os.write`` a line.
"""

import atexit
import errno
import mmap
import os
import threading
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path

CHUNK = 1 << 16  # bytes; a multiple of the page size
_open: "weakref.WeakSet[TraceFile]" = weakref.WeakSet()


class TraceFile:
    """A new file that grows by whole lines.

    ``OSError`` if it cannot be made.  An error later, such as a full disk, closes it and is given to ``failed``.
    """

    def __init__(self, path: str | Path, failed: Callable[[OSError], None]) -> None:
        # O_EXCL, since whoever cuts a file short that another process has mapped kills that process.
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        self._failed = failed
        self._growing = threading.RLock()  # a signal handler may write while its own thread grows the file
        self._size = 0
        self._chunk: mmap.mmap | None = None
        self._start = 0  # of the chunk
        self._copy: Callable[[bytes], object] = _nothing
        _open.add(self)
        try:
            self._add_chunk(CHUNK)
        except OSError:
            self.close()
            raise

    def write(self, line: bytes) -> None:
        """Append one whole line; after ``close``, do nothing."""
        copy = self._copy
        try:
            copy(line)
        except ValueError:  # the chunk is full, or was closed a moment ago
            self._grow(copy, len(line))
            self.write(line)
        except OSError as error:
            self._fail(error)

    def _grow(self, full: Callable, needed: int) -> None:
        with self._growing:
            if self._copy is full:  # else another thread was faster
                try:
                    self._add_chunk(-(-needed // CHUNK) * CHUNK)
                except OSError as error:
                    self._fail(error)

    def _add_chunk(self, size: int) -> None:
        full, start = self._copy, self._size
        self._size += size
        if os.pwrite(self._descriptor, b"\n" * size, start) < size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        chunk = _map(self._descriptor, size, start)
        if self._copy is not full:  # a signal handler was faster: this chunk stays blank
            return
        self._chunk, self._start = chunk, start
        if chunk is None:
            os.ftruncate(self._descriptor, start)
            os.lseek(self._descriptor, start, os.SEEK_SET)
            self._copy = partial(os.write, self._descriptor)
        else:
            self._copy = chunk.write

    def _fail(self, error: OSError) -> None:
        if self._descriptor >= 0:  # else it was closed, and this is no surprise
            self.close()
            self._failed(error)

    def close(self) -> None:
        """Remove the blanks at the end, and write nothing from now on."""
        with self._growing:
            if self._descriptor >= 0 and self._chunk is not None:
                used = self._start + self._chunk.tell()
                self._chunk.close()  # first: a copy beyond the end of the file would be fatal
                os.ftruncate(self._descriptor, used)
            self.forget()

    def forget(self) -> None:
        """Write nothing from now on, and leave the file as it is."""
        self._copy = _nothing
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
        if self._chunk is not None:
            self._chunk.close()


def _map(descriptor: int, size: int, start: int) -> mmap.mmap | None:
    try:
        return mmap.mmap(descriptor, size, offset=start)
    except (OSError, ValueError):
        return None


def _nothing(line: bytes) -> None:
    """Write no more."""


def _close_all() -> None:
    for lines in list(_open):
        lines.close()


def _forget_in_child() -> None:
    """A forked child (a worker of a DataLoader, say) is not the process that the file is about."""
    for lines in list(_open):
        lines.forget()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget_in_child)
