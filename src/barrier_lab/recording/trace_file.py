"""Append lines to a file such that each survives any end of the process, at the cost of a memory copy.

The file grows in chunks of blank lines, which are memory-mapped and shared; a line is copied over the next blanks.
It is then in the kernel's page cache, so SIGKILL cannot lose it.  A kill during the copy leaves a truncated last line,
as it would during ``os.write``.  ``mmap.write`` is atomic under the GIL, so threads cannot interleave their lines, and
there is no lock that a forked child could inherit in a locked state.  ``close`` removes the remaining blanks; after
SIGKILL they stay, and are white space to JSON.

A chunk is written before it is mapped, so that a full disk raises ``OSError`` then instead of a fatal SIGBUS during a
copy.  If a file cannot be mapped, each line is written with ``os.write``.
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
    """A new file to which complete lines are appended.

    Raises ``OSError`` if it cannot be created.  A later error, such as a full disk, closes the file and is passed to
    ``failed``.
    """

    def __init__(self, path: str | Path, failed: Callable[[OSError], None]) -> None:
        # O_EXCL, since truncating a file that another process has mapped kills that process.
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
        """Append one complete line.  Does nothing after ``close``."""
        copy = self._copy
        try:
            copy(line)
        except ValueError:  # the chunk is full, or was just closed
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
        if self._descriptor >= 0:  # else the file was closed, and the error is expected
            self.close()
            self._failed(error)

    def close(self) -> None:
        """Remove the trailing blanks and stop writing."""
        with self._growing:
            if self._descriptor >= 0 and self._chunk is not None:
                used = self._start + self._chunk.tell()
                self._chunk.close()  # before truncating: a copy beyond the end of the file would be fatal
                os.ftruncate(self._descriptor, used)
            self.forget()

    def forget(self) -> None:
        """Stop writing and leave the file as it is."""
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
    """Ignore a line after closing."""


def _close_all() -> None:
    for lines in list(_open):
        lines.close()


def _forget_in_child() -> None:
    """Stop writing in a forked child, such as a DataLoader worker: the file records only the parent."""
    for lines in list(_open):
        lines.forget()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget_in_child)
