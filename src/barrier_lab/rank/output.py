"""The output of a rank: each line is timestamped when it is complete.

The order of lines on a terminal proves nothing about two processes; a timestamp taken in the printing process does.
The rank sends ``<stamp mark><monotonic seconds><end mark><text>`` through its pipe, which the runner drains.
"""

import codecs
import contextlib
import io
import os
import threading
import time
from collections.abc import Callable

LONGEST = 1 << 16  # characters; longer lines are split
STAMP, END, NOTE = "\x1e", "\x1f", "\x1d"  # ASCII record, unit and group separators
_STRIP = str.maketrans("", "", STAMP + END + NOTE)


def encode(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


class LineStream(io.TextIOBase):
    """A text stream that passes each complete line, with its time in monotonic seconds, to ``send``."""

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
        """Accept and ignore options: each line is sent immediately in any case."""

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> int:
        with self._lock:
            *lines, self._rest = (self._rest + text).split("\n")
            if len(self._rest) > LONGEST:  # the line may never end
                lines.append(self._rest)
                self._rest = ""
            for line in lines:
                self._send(time.monotonic(), line.translate(_STRIP))
        return len(text)

    def flush(self) -> None:
        """Send an incomplete line as a line: the rank may never finish it."""
        with self._lock:
            if self._rest:
                self.write("\n")


class _Bytes(io.BufferedIOBase):
    """The ``buffer`` of a text stream: decodes bytes and passes them on as text."""

    def __init__(self, lines: LineStream) -> None:
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
    """Flush streams, which the experiment may have closed or replaced."""
    for stream in streams:
        with contextlib.suppress(Exception):
            stream.flush()


def to_pipe(descriptor: int) -> Callable[[float, str], None]:
    """Return a function that sends timestamped lines through a pipe."""
    return lambda t, line: write_all(descriptor, encode(f"{STAMP}{t:.6f}{END}{line}\n"))


def note(descriptor: int, text: str) -> None:
    """Send the runner a note, which is not output."""
    write_all(descriptor, encode(f"{NOTE}{text.translate(_STRIP)}".replace("\n", " ") + "\n"))


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``, or raise ``OSError``."""
    while data:
        data = data[os.write(descriptor, data) :]
