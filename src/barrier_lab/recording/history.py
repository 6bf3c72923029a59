"""Keep a rank's trace below a size: drop its oldest events in pieces, and keep what a diagnosis needs of them.

The trace is written to ``rankN.trace.json`` until that holds half of the limit.  It then becomes
``rankN.trace.old.json``, which replaces the piece before, and a new file begins with what must not be lost:

    every mark and thread name, as it was written
    ``kind``     an example of each distinct call: what it is, on which group, from which lines
    ``dropped``  how many calls of each kind were dropped, and for each group the order in which they were called
    the begin of each call that has not ended

The order is one 16-bit number per collective, compressed; a training loop repeats itself, so it takes a few bytes per
thousand calls.  It allows the first difference between two ranks to be found among dropped calls.
"""

import base64
import json
import threading
import zlib
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from barrier_lab.recording.trace_file import TraceFile

_MOST_KINDS = 60_000  # numbers fit in 16 bits; later kinds share the number 0, "unknown"
_MOST_OPEN = 20_000  # calls without an end, such as messages whose handles are never waited for


class _Piece:
    """Counts and orders of the calls that begin in one piece of the trace."""

    def __init__(self) -> None:
        self.size = 0  # bytes
        self.counts: dict[int, int] = {}
        self.orders: dict[str, tuple[int, array]] = {}  # group -> seq of its first call, kinds in order


class History:
    """The calls of one rank so far.  ``begun``, ``ended`` and ``lasting`` are told every line that is written."""

    def __init__(self, path: Path, limit: int, create: Callable[[], "TraceFile"]) -> None:
        """``limit``: bytes.  ``create``: opens a new trace file at ``path``."""
        self._path, self._half, self._create = path, limit // 2, create
        self._turning = threading.RLock()
        self._lasting: list[bytes] = []
        self._kinds: dict[tuple, int] = {}
        self._open: dict[int, bytes] = {}
        self._piece, self._earlier = _Piece(), _Piece()
        self._file: TraceFile | None = None  # of the piece before
        self._current: TraceFile = create()

    @property
    def write(self) -> Callable[[bytes], None]:
        """Append one line to the current piece."""
        return self._current.write

    def lasting(self, line: bytes) -> None:
        """Keep a line in every piece."""
        self._lasting.append(line)

    def begun(self, key: tuple, group: str | None, seq: int | None, op: int, line: bytes) -> bool:
        """Count a call.  Returns True if a new piece was begun, so that ``write`` has changed."""
        number = self._kinds.get(key)
        if number is None:
            number = self._new_kind(key, line)
        piece = self._piece
        piece.counts[number] = piece.counts.get(number, 0) + 1
        if seq is not None and group is not None:
            known = piece.orders.get(group)
            if known is None:
                known = piece.orders[group] = seq, array("H")
            known[1].append(number)
        self._open[op] = line
        piece.size += len(line)
        return piece.size > self._half and self._turn(piece)

    def ended(self, op: int, line: bytes) -> None:
        """Note the end of a call."""
        self._open.pop(op, None)
        self._piece.size += len(line)

    def close(self) -> None:
        """Close the files."""
        for file in (self._file, self._current):
            if file is not None:
                file.close()

    def _new_kind(self, key: tuple, line: bytes) -> int:
        if len(self._kinds) >= _MOST_KINDS:
            return 0
        number = self._kinds[key] = len(self._kinds) + 1
        self._lasting.append(_mark("kind", {"number": number, "example": json.loads(line.rstrip(b",\n"))}))
        return number

    def _turn(self, full: _Piece) -> bool:
        """Begin a new piece and drop the one before the full one.  Returns whether that worked."""
        with self._turning:
            if self._piece is not full:  # another thread was faster
                return True
            self._piece = _Piece()
            try:
                self._path.replace(old_piece(self._path))
                fresh = self._create()
            except OSError:  # go on with the file there is
                return False
            if self._file is not None:
                self._lasting.append(_summary(self._earlier))
                self._file.close()
            while len(self._open) > _MOST_OPEN:
                self._open.pop(next(iter(self._open)), None)
            head = b"".join([b"[\n", *self._lasting, *list(self._open.values())])
            fresh.write(head)
            self._piece.size = len(head)
            self._earlier, self._file, self._current = full, self._current, fresh
            return True


def old_piece(path: Path) -> Path:
    """Path of the piece before ``path``: ``rank0.trace.old.json``."""
    return path.with_suffix(".old.json")


def _summary(piece: _Piece) -> bytes:
    orders = {
        group: {"first": first, "kinds": base64.b64encode(zlib.compress(kinds.tobytes(), 9)).decode()}
        for group, (first, kinds) in piece.orders.items()
    }
    return _mark("dropped", {"counts": piece.counts, "orders": orders})


def _mark(name: str, args: dict) -> bytes:
    event = {"name": name, "cat": "history", "ph": "M", "pid": 0, "tid": 0, "args": args}
    return json.dumps(event, separators=(",", ":")).encode() + b",\n"
