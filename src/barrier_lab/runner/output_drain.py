"""Read a rank's output from its pipe and split it into lines and notes.

Lines without a timestamp come from C or C++ and get their time of arrival.
"""

import contextlib
import os
import time

from barrier_lab.rank.output import END, LONGEST, NOTE, STAMP


class Drain:
    """Reads one pipe of a rank, splits it into lines, and separates notes from output."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.closed = False
        self._rest = b""

    def read(self) -> list[tuple[float | None, str]]:
        """Read available data.  Returns complete lines as (time, text), and notes as (None, note)."""
        try:
            data = os.read(self.descriptor, 65536)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self.closed = True
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._rest and (self.closed or len(self._rest) > LONGEST):  # the last line, or one that is too long
            lines.append(self._rest)
            self._rest = b""
        now = time.monotonic()
        return [_decode(line, now) for line in lines]


def _decode(line: bytes, now: float) -> tuple[float | None, str]:
    """Time and text of a line.  An invalid timestamp is kept as text: C and C++ may print anything."""
    text = line.decode("utf-8", "replace")
    if text.startswith(NOTE):
        return None, text[1:]
    if text.startswith(STAMP):
        stamp, end, rest = text[1:].partition(END)
        with contextlib.suppress(ValueError):
            if end and 0 < (t := float(stamp)) <= now:
                return t, rest
    return now, text
