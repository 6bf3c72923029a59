"""Append trace events to a rank's file, such that each survives any way in which the rank may end.

The format is Chrome's Trace Event Format, JSON array form, one event per line; ``trace_file`` hands each line to the
kernel immediately.  Times are microseconds, written as nanoseconds with an exponent: ``1234567e-3`` is a valid JSON
number and saves the two divisions of ``1234.567``.

    begin/end with ``flight=False``  blocks its thread                         ph B and E
    begin/end with ``flight=True``   in flight, may end on another thread      ph b and e, with an id
    mark                             an instant                                ph i
"""

import itertools
import json
import math
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic_ns
from types import TracebackType
from typing import Any

from barrier_lab.recording.history import History
from barrier_lab.recording.trace_file import TraceFile

SourceLine = tuple[str, int, str]  # file, line, function
Facts = tuple[tuple[str, Any], ...]  # additional (name, value) pairs of a call, hashable
_TEMPLATES_KEPT = 10_000


def open_trace(path: str | Path, rank: int, limit: int | None = None) -> "Recorder":
    """Create the trace file of a rank and return its recorder.  Raises ``OSError`` if that fails.

    ``limit``: bytes that the trace may take; the oldest events are then dropped.  None: no limit.
    """
    recorder = Recorder(path, rank, limit)
    recorder.write(b"[\n")
    named = {"name": "process_name", "ph": "M", "pid": rank, "tid": 0, "args": {"name": f"rank {rank}"}}
    recorder.write_lasting(_json(named) + b",\n")
    return recorder


class _PerThread(threading.local):
    """Cache of a thread's native id, which costs a system call, and of its event templates, which contain the id."""

    def __init__(self) -> None:
        self.tid = threading.get_native_id()
        self.named = threading.get_ident() == threading.main_thread().ident
        self.templates: dict[tuple, bytes] = {}


class Recorder:
    """Writes the events of one rank.  ``pid`` in the trace is the rank, ``tid`` the native thread id."""

    def __init__(self, path: str | Path, rank: int, limit: int | None = None) -> None:
        self.rank = rank
        self._history = None
        if limit is None:
            self._file = TraceFile(path, self._give_up)
        else:
            self._file = self._history = History(Path(path), limit, lambda piece: TraceFile(piece, self._give_up))
        self.write = self._file.write  # append one complete line
        self._thread = _PerThread()
        self._flight_ends: dict[tuple, bytes] = {}
        self.last_ns = monotonic_ns()  # when a call last began or ended
        self._ops = itertools.count(1)  # next() is atomic under the GIL

    def begin(
        self,
        name: str,
        cat: str,
        *,
        group: str | None = None,
        seq: int | None = None,
        place: SourceLine | None = None,
        flight: bool = False,
        facts: Facts = (),
        of: int | None = None,
    ) -> int:
        """Record the start of an operation and return its number, to be passed to ``end``.

        ``facts``: additional ``args`` of the event.  Like names, they should have few distinct values.
        ``of``: for a wait, the number of the call that it waits for.
        """
        now = self.last_ns = monotonic_ns()
        op = next(self._ops)
        key = (name, cat, group, seq is None, place, flight, facts, of is None)
        template = self._thread.templates.get(key) or self._template(key, _begin_template)
        values = (op, now, op) if flight else (now, op)
        if seq is not None:
            values += (seq,)
        elif of is not None:
            values += (of,)
        line = template % values
        self.write(line)
        if self._history is not None and self._history.begun(key, group, seq, op, line):
            self.write = self._history.write
        return op

    def end(self, name: str, cat: str, op: int, *, error: str | None = None, flight: bool = False) -> None:
        """Record the end of operation ``op``, by the exception ``error`` if given."""
        now = self.last_ns = monotonic_ns()
        if flight:
            line = self._flight_end(name, cat, error) % (op, now, op)
        else:
            key = (name, cat, error)
            line = (self._thread.templates.get(key) or self._template(key, _end_template)) % (now, op)
        self.write(line)
        if self._history is not None:
            self._history.ended(op, line)

    def mark(self, name: str, cat: str, /, *, at: int | None = None, **args: Any) -> None:
        """Record an instant: now, or ``at`` (monotonic ns).  ``args`` of non-JSON types are converted by ``str``."""
        now = monotonic_ns() if at is None else at
        event = {"name": name, "cat": cat, "ph": "i", "s": "p", "pid": self.rank, "tid": self._thread.tid}
        stamp = b',"ts":%de-3,"args":' % now
        self.write_lasting(_json(event)[:-1] + stamp + _json(args) + b"},\n")

    def write_lasting(self, line: bytes) -> None:
        """Append one complete line that is never dropped."""
        self.write(line)
        if self._history is not None:
            self._history.lasting(line)

    def span(self, name: str, cat: str, **args: Any) -> "_Span":
        """Context manager that records its body as a blocking interval.  ``args`` as for ``begin``."""
        return _Span(self, name, cat, args)

    def close(self) -> None:
        """Stop recording.  Later calls do nothing."""
        self._file.close()

    def _give_up(self, error: OSError) -> None:
        """Warn that recording has stopped.  An error such as a full disk must not stop the experiment."""
        sys.stderr.write(f"barrier_lab: rank {self.rank} records no longer: {error}\n")

    def _name_thread(self, tid: int) -> None:
        """Write the name of this thread and the identifier that ``faulthandler`` prints for it."""
        ident = threading.get_ident()
        # Not current_thread(), which would create a Thread object for a C++ thread.
        name = next((thread.name for thread in threading.enumerate() if thread.ident == ident), f"thread {tid}")
        args = {"name": name, "ident": ident}
        named = {"name": "thread_name", "ph": "M", "pid": self.rank, "tid": tid, "args": args}
        self.write_lasting(_json(named) + b",\n")

    def _flight_end(self, name: str, cat: str, error: str | None) -> bytes:
        """Get the template of the ends of calls in flight, whose thread does not matter.

        They are recorded on threads of C++, which Python forgets after each callback with all that is kept for them.
        """
        key = (name, cat, error)
        template = self._flight_ends.get(key)
        if template is None:
            if len(self._flight_ends) >= _TEMPLATES_KEPT:
                self._flight_ends.clear()
            template = self._flight_ends[key] = _end_template(self.rank, 0, *key, flight=True)
        return template

    def _template(self, key: tuple, make: Callable[..., bytes]) -> bytes:
        """Get the template of this thread's events that differ only in time and numbers."""
        thread = self._thread
        if make is _begin_template and not thread.named:
            thread.named = True
            self._name_thread(thread.tid)
        if len(thread.templates) >= _TEMPLATES_KEPT:  # names and errors are unbounded
            thread.templates.clear()
        template = thread.templates[key] = make(self.rank, thread.tid, *key)
        return template


class _Span:
    """The context manager of ``Recorder.span``.  A class, since ``contextlib`` would double the cost."""

    __slots__ = ("args", "cat", "name", "op", "recorder")

    def __init__(self, recorder: Recorder, name: str, cat: str, args: dict) -> None:
        self.recorder, self.name, self.cat, self.args = recorder, name, cat, args

    def __enter__(self) -> int:
        self.op = self.recorder.begin(self.name, self.cat, **self.args)
        return self.op

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        flight = self.args.get("flight", False)
        self.recorder.end(self.name, self.cat, self.op, error=error and describe(error), flight=flight)


def describe(error: BaseException) -> str:
    """Format an exception as one line for the trace: ``RuntimeError: first line``."""
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__


def _begin_template(
    rank: int,
    tid: int,
    name: str,
    cat: str,
    group: str | None,
    unnumbered: bool,
    place: SourceLine | None,
    flight: bool,
    facts: Facts,
    of_nothing: bool,
) -> bytes:
    file, line, function = place or (None, None, None)
    fixed = {"group": group, "file": file, "line": line, "function": function, **dict(facts)}
    args = b'"op":%d,"seq":null,' if unnumbered else b'"op":%d,"seq":%d,'
    if unnumbered and not of_nothing:
        args += b'"of":%d,'
    return _head(b"b" if flight else b"B", rank, tid, name, cat) + args + _fixed(fixed)[1:] + b"},\n"


def _end_template(rank: int, tid: int, name: str, cat: str, error: str | None, flight: bool = False) -> bytes:
    args = b'"op":%d' if error is None else b'"op":%d,' + _fixed({"error": error})[1:-1]
    return _head(b"e" if flight else b"E", rank, tid, name, cat) + args + b"}},\n"


def _head(phase: bytes, rank: int, tid: int, name: str, cat: str) -> bytes:
    fixed = _fixed({"name": name, "cat": cat, "pid": rank, "tid": tid})[:-1]
    identity = b',"id":%d' if phase in b"be" else b""
    return fixed + b',"ph":"' + phase + b'"' + identity + b',"ts":%de-3,"args":{'


def _fixed(value: dict) -> bytes:
    """JSON of ``value``, escaped for use in a template."""
    return _json(value).replace(b"%", b"%%")


def _json(value: Any) -> bytes:
    """ASCII JSON of any value, on one line."""
    return json.dumps(_plain(value), separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    """Convert ``value`` to JSON types, which have neither NaN nor tuples as keys."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)
