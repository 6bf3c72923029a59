"""Read the events of a rank's trace file and pair them to spans.

Tolerates what a crash leaves behind: a file without its end, or a truncated last line.
"""

import json
from pathlib import Path

from barrier_lab.trace.model import Place, Span


def read_events(path: Path) -> list[dict]:
    """Read the events of a trace file, one per line, and skip truncated lines."""
    data = path.read_bytes().strip().removeprefix(b"[").removesuffix(b"]")
    events = []
    for whole in (data, data.rpartition(b"\n")[0]):  # all at once, or without a truncated last line: faster
        try:
            events = json.loads(b"[" + whole.strip().rstrip(b",") + b"]")
            break
        except ValueError:
            continue
    else:
        events = [event for line in data.split(b"\n") for event in _read_line(line)]
    return [event for event in events if isinstance(event, dict) and {"name", "ph", "args"} <= event.keys()]


def _read_line(line: bytes) -> list:
    try:
        return [json.loads(line.strip().rstrip(b",") or b"null")]
    except ValueError:
        return []


def spans(number: int, events: list[dict], start: float) -> list[Span]:
    """Pair B with E and b with e events by ``op``; of a blocking call, only the B/E pair becomes a span."""
    in_flight: dict[int, Span] = {}
    blocking: dict[int, Span] = {}
    paths: dict[int, tuple[Place, ...]] = {}
    threads: dict[int, str] = {}
    for event in events:
        phase, args = event["ph"], event.get("args", {})
        if phase in ("B", "b"):
            if args["op"] in blocking:
                continue
            table = blocking if phase == "B" else in_flight
            table[args["op"]] = _span(number, event, start, paths, threads)
        elif phase in ("E", "e"):
            span = (blocking if phase == "E" else in_flight).get(args["op"])
            if span is not None:
                span.end = (event["ts"] - start) / 1e6
                span.error = args.get("error") or span.error
        elif event.get("cat") == "path":
            paths[args["path"]] = tuple(Place(*frame) for frame in args["frames"][1:])
        elif event["name"] == "thread_name":
            threads[event["tid"]] = args["name"]
    return sorted((in_flight | blocking).values(), key=lambda span: span.begin)


_FACTS = {"via", "handle", "of", "peer", "tag", "root", "reduce", "tensor", "numel", "handling"}


def _span(number: int, event: dict, start: float, paths: dict, threads: dict) -> Span:
    args = event["args"]
    span = Span(
        rank=number,
        name=event["name"],
        kind=event["cat"],
        group=args.get("group"),
        seq=args.get("seq"),
        begin=(event["ts"] - start) / 1e6,
        end=None,
        blocked=event["ph"] == "B",
        file=args.get("file"),
        line=args.get("line"),
        function=args.get("function"),
        op=args["op"],
        thread=threads.get(event.get("tid")),
    )
    if len(args) > 6:  # every event has the first six
        span.callers = paths.get(args.get("path"), ())
        for key in _FACTS & args.keys():
            setattr(span, key, args[key])
        for key in ("ranks", "sends", "takes"):
            setattr(span, key, tuple(args.get(key, ())))
        span.raised_at = Place(*args["raised_at"]) if "raised_at" in args else None
    return span
