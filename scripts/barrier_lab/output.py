"""What a rank prints: each line stamped with the moment at which it was complete.

Print order on a terminal proves nothing between two processes; a stamp taken in the printing process does.
The rank sends ``<stamp mark><monotonic seconds><end mark><text>`` through its pipe, and the runner, which
drains the pipe, writes ``rankN.log``.  Lines without a stamp come from C or C++ and get their time of arrival.
"""

import codecs
import contextlib
import io
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

LIMIT = 1_000_000  # characters of output kept per rank
LONGEST = 1 << 16  # characters of a line: a longer one is cut into several
STAMP, END, NOTE = "\x1e", "\x1f", "\x1d"  # ASCII record, unit and group separators
_STRIP = str.maketrans("", "", STAMP + END + NOTE)


def encode(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


class Lines(io.TextIOBase):
    """A text stream that hands each complete line, with its time in monotonic seconds, to ``send``."""

    encoding = "utf-8"
    errors = "backslashreplace"
    name = "<a rank's output>"
    mode = "w"

    def __init__(self, descriptor: int, send: Callable[[float, str], None]) -> None:
        self._descriptor = descriptor
        self._send = send
        self._rest = ""
        self._lock = threading.RLock()
        self.buffer = _Bytes(self)

    def writable(self) -> bool:
        return True

    def reconfigure(self, **_: object) -> None:
        """Accept what scripts ask of ``sys.stdout``: each line is sent at once in any case."""

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> int:
        with self._lock:
            *lines, self._rest = (self._rest + text).split("\n")
            if len(self._rest) > LONGEST:  # it may never end
                lines.append(self._rest)
                self._rest = ""
            for line in lines:
                self._send(time.monotonic(), line.translate(_STRIP))
        return len(text)

    def flush(self) -> None:
        """A flushed part of a line counts as a line: the rank may never finish it."""
        with self._lock:
            if self._rest:
                self.write("\n")


class _Bytes(io.BufferedIOBase):
    """The ``buffer`` of a text stream: takes bytes and passes them on as text."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._lines.fileno()

    def write(self, data: bytes) -> int:
        self._lines.write(self._decoder.decode(bytes(data)))
        return len(data)

    def flush(self) -> None:
        self._lines.flush()


def flush(*streams: object) -> None:
    """Flush streams that an experiment may have closed, or replaced by anything."""
    for stream in streams:
        with contextlib.suppress(Exception):
            stream.flush()


def to_pipe(descriptor: int) -> Callable[[float, str], None]:
    """Send stamped lines through a pipe."""
    return lambda t, line: write_all(descriptor, encode(f"{STAMP}{t:.6f}{END}{line}\n"))


def note(descriptor: int, text: str) -> None:
    """Tell the runner something that is not output."""
    write_all(descriptor, encode(f"{NOTE}{text.translate(_STRIP)}".replace("\n", " ") + "\n"))


def log_line(t: float, stream: str, text: str) -> bytes:
    """A line of ``rankN.log``; ``stream`` is "out" or "err"."""
    return encode(f"{t:.6f} {stream} {text}\n")


class Log:
    """``rankN.log``: keeps lines until there are too many, and does not fail when the disk is full.

    ``failed`` hears of the first error; after it, nothing is kept.
    """

    def __init__(self, path: Path, rank: int, failed: Callable[[OSError], None] | None = None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
        self._descriptor: int | None = os.open(path, flags, 0o644)
        self._rank = rank
        self._failed = failed
        self._kept = 0

    def keep(self, t: float, stream: str, text: str) -> str | None:
        """Append a line.  Returns it, or the note that ends the log, or None for a line beyond that."""
        if self._kept > LIMIT:
            return None
        self._kept += len(text) + 1
        if self._kept > LIMIT:
            text = f"[rank {self._rank} printed more than {LIMIT:,} characters: the rest is not kept]"
        if self._descriptor is not None:
            try:
                write_all(self._descriptor, log_line(t, stream, text))
            except OSError as error:
                self.close()
                if self._failed:
                    self._failed(error)
        return text

    def close(self) -> None:
        """Keep nothing from now on."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write it all, or raise ``OSError``."""
    while data:
        data = data[os.write(descriptor, data) :]


class Drain:
    """Reads one pipe of a rank: splits it into lines, tells notes from output."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.closed = False
        self._rest = b""

    def read(self) -> list[tuple[float | None, str]]:
        """The lines that have come: (time, text), and (None, note) for a note."""
        try:
            data = os.read(self.descriptor, 65536)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self.closed = True
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._rest and (self.closed or len(self._rest) > LONGEST):  # a last or an endless line
            lines.append(self._rest)
            self._rest = b""
        now = time.monotonic()
        return [_decode(line, now) for line in lines]


def _decode(line: bytes, now: float) -> tuple[float | None, str]:
    """Moment and text of a line.  What only looks like a stamp comes from below Python, which may print anything."""
    text = line.decode("utf-8", "replace")
    if text.startswith(NOTE):
        return None, text[1:]
    if text.startswith(STAMP):
        stamp, end, rest = text[1:].partition(END)
        with contextlib.suppress(ValueError):
            if end and 0 < (t := float(stamp)) <= now:
                return t, rest
    return now, text
