"""``rankN.log``: the lines printed by a rank.  Written by the runner or, under torchrun, by the rank itself."""

import os
from collections.abc import Callable
from pathlib import Path

from barrier_lab.rank.output import encode, write_all

LIMIT = 1_000_000  # characters of output kept per rank


class Log:
    """A log that keeps output up to a limit and does not raise if the disk is full.

    ``failed`` is called with the first error, after which nothing is kept.
    """

    def __init__(self, path: Path, rank: int, failed: Callable[[OSError], None] | None = None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
        self._descriptor: int | None = os.open(path, flags, 0o644)
        self._rank = rank
        self._failed = failed
        self._kept = 0

    def keep(self, t: float, stream: str, text: str) -> str | None:
        """Append a line.  Returns the line, the closing note at the limit, or None for any line after that."""
        if self._kept > LIMIT:
            return None
        self._kept += len(text) + 1
        if self._kept > LIMIT:
            text = f"[rank {self._rank} printed more than {LIMIT:,} characters: the rest is not kept]"
        if self._descriptor is not None:
            try:
                write_all(self._descriptor, _log_line(t, stream, text))
            except OSError as error:
                self.close()
                if self._failed:
                    self._failed(error)
        return text

    def close(self) -> None:
        """Close the file.  Later lines are not kept."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


def _log_line(t: float, stream: str, text: str) -> bytes:
    """Format a line of ``rankN.log``.  ``stream`` is "out" or "err"."""
    return encode(f"{t:.6f} {stream} {text}\n")
