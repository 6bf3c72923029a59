"""Keep a rank's trace below a size: drop its oldest events in pieces, and keep what a diagnosis needs of them.

The trace is written to ``rankN.trace.json`` until that holds half of the limit.  It then becomes
``rankN.trace.old.json``, which replaces the piece before, and a new file begins with what must not be lost:

    every mark and thread name, as it was written
    ``piece``    the number of this piece
    ``kind``     an example of each distinct call: what it is, on which group, from which lines
    ``dropped``  how many calls of each kind were dropped, and for each group the order in which they were called
    the begin of each call that has not ended

The order is one 16-bit number per collective, compressed; a training loop repeats itself, so it takes a few bytes per
thousand calls.  It allows the first difference between two ranks to be found among dropped calls.
"""

import base64
import json
import os
import threading
import zlib
from array import array
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from barrier_lab.recording.trace_file import CHUNK, TraceFile

_MOST_KINDS = 60_000  # numbers fit in 16 bits; later kinds share the number 0, "unknown"
_MOST_OPEN = 20_000  # calls without an end, such as messages whose handles are never waited for


class _Piece:
    """Counts and orders of the calls that begin in one piece of the trace."""

    def __init__(self, largest: int) -> None:
        self.size, self.largest = 0, largest  # bytes
        self.counts: dict[int, int] = {}
        self.orders: dict[str, tuple[int, array]] = {}  # group -> seq of its first call, kinds in order


class _Dropped:
    """Counts and compressed orders of all dropped calls."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._orders: dict[str, tuple[int, Any, bytearray]] = {}  # group -> seq of its first call, compressor, output

    def add(self, piece: _Piece) -> None:
        """Drop a piece."""
        self._counts.update(piece.counts)
        for group, (first, kinds) in piece.orders.items():
            _, compressor, output = self._orders.setdefault(group, (first, zlib.compressobj(9), bytearray()))
            output += compressor.compress(kinds.tobytes()) + compressor.flush(zlib.Z_SYNC_FLUSH)

    def line(self) -> bytes:
        """The line of the trace; empty if nothing was dropped."""
        orders = {
            group: {"first": first, "kinds": base64.b64encode(output).decode()}
            for group, (first, _, output) in self._orders.items()
        }
        return _mark("dropped", {"counts": self._counts, "orders": orders}) if self._counts else b""


class History:
    """The calls of one rank so far.  ``begun``, ``ended`` and ``lasting`` are told every line that is written."""

    def __init__(self, path: Path, limit: int, create: Callable[[Path], TraceFile]) -> None:
        """``limit``: bytes.  ``create``: opens a new trace file."""
        self._path, self._half, self._create = path, max(limit // 2 - CHUNK, CHUNK // 2), create
        self._turning = threading.RLock()
        self._lasting: list[bytes] = []
        self._kinds: dict[tuple, int] = {}
        self._open: dict[int, tuple[int, bytes]] = {}  # op -> kind, begin
        self._dropped = _Dropped()
        self._number = 0  # of the current piece
        self._piece = self._earlier = _Piece(self._half)
        self._file: TraceFile | None = None  # of the piece before
        self._current = create(path)

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
        self._open[op] = number, line
        piece.size += len(line)
        return piece.size > piece.largest and self._turn(piece)

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
            next_path = self._path.with_suffix(".next.json")
            try:
                file = self._create(next_path)
            except OSError:  # go on with the file there is
                full.largest *= 2
                return False
            self._piece = fresh = _Piece(self._half)
            if self._file is not None:
                self._dropped.add(self._earlier)
                self._file.close()
            self._number += 1
            number = _mark("piece", {"number": self._number})
            head = b"".join([b"[\n", number, *self._lasting, self._dropped.line(), *self._carried(full, fresh)])
            file.write(head)
            fresh.size = len(head)
            fresh.largest = max(self._half, 2 * len(head))  # a small limit must not mean a new piece per call
            self._retire()
            next_path.replace(self._path)
            self._earlier, self._file, self._current = full, self._current, file
            return True

    def _retire(self) -> None:
        """Make the full piece the old one; by a second name if possible, so that a reader always finds a trace."""
        second = self._path.with_suffix(".second.json")
        try:
            os.link(self._path, second)
        except OSError:
            second = self._path
        second.replace(old_piece(self._path))

    def _carried(self, full: _Piece, fresh: _Piece) -> list[bytes]:
        """The begins of the calls that have not ended; from now on they count as calls of the fresh piece."""
        while len(self._open) > _MOST_OPEN:
            self._open.pop(next(iter(self._open)), None)
        carried = list(self._open.values())
        for number, _ in carried:
            full.counts[number] = full.counts.get(number, 0) - 1
            fresh.counts[number] = fresh.counts.get(number, 0) + 1
        return [line for _, line in carried]


def old_piece(path: Path) -> Path:
    """Path of the piece before ``path``: ``rank0.trace.old.json``."""
    return path.with_suffix(".old.json")


def _mark(name: str, args: dict) -> bytes:
    event = {"name": name, "cat": "history", "ph": "M", "pid": 0, "tid": 0, "args": args}
    return json.dumps(event, separators=(",", ":")).encode() + b",\n"
