"""Write small run directories by hand, in the format that ``barrier_lab.trace`` reads."""

import json
from pathlib import Path

SCRIPT = "/home/reader/one_sided.py"
ZERO = 1000.0  # the monotonic clock at the common start, in seconds


def start() -> list[dict]:
    return [{"name": "start", "cat": "meta", "ph": "i", "s": "p", "ts": ZERO * 1e6}]


def end(t: float) -> list[dict]:
    return [{"name": "end", "cat": "meta", "ph": "i", "s": "p", "ts": _ts(t)}]


def call(
    name: str,
    line: int,
    begin: float,
    end: float | None = None,
    *,
    kind="collective",
    group="default",
    error=None,
    below=False,
    file=SCRIPT,
):
    """A call and, if it came back, its end; ``below``: in flight (b/e), as C++ or ``async_op`` starts it."""
    where = {"group": group, "file": file, "line": line, "function": "worker"}
    first, last = ("b", "e") if below else ("B", "E")
    events = [{"name": name, "cat": kind, "ph": first, "ts": _ts(begin), "args": where}]
    if end is not None:
        events.append(
            {"name": name, "cat": kind, "ph": last, "ts": _ts(end), "args": {"error": error} if error else {}}
        )
    return events


def barrier(line: int, begin: float, end: float | None = None, **more) -> list[dict]:
    return call("barrier", line, begin, end, **more)


def sleep(line: int, begin: float, end: float | None = None) -> list[dict]:
    return call("sleep", line, begin, end, kind="sleep", group=None)


def raised(t: float, text: str, line: int = 30) -> list[dict]:
    """An uncaught exception, given as its last line: "ValueError: no such file"."""
    name, _, message = text.partition(": ")
    traceback = f'Traceback (most recent call last):\n  File "{SCRIPT}", line {line}, in worker\n    work()\n{text}\n'
    args = {"message": message, "traceback": traceback, "file": SCRIPT, "line": line, "function": "worker"}
    return [{"name": name, "cat": "error", "ph": "i", "s": "p", "ts": _ts(t), "args": args}, *globals()["end"](t)]


def write(directory: Path, ranks: dict[int, list[list[dict]]], stacks: dict[int, int] | None = None, **run) -> Path:
    """Write a run directory: events per rank, in order; ``stacks``: rank -> its line; the rest is ``run.json``."""
    directory.mkdir(parents=True, exist_ok=True)
    about = {"schema": 1, "world_size": len(ranks), "experiment": "one_sided", "script": SCRIPT, "deadline": 6.0}
    for rank, groups in ranks.items():
        (directory / f"rank{rank}.trace.json").write_text("[\n" + "".join(_lines(rank, about, groups)))
    for rank, line in (stacks or {}).items():
        text = f'Thread 0x1 (most recent call first):\n  File "{SCRIPT}", line {line} in worker\n'
        (directory / f"rank{rank}.stack").write_text(text)
    if run:
        entries = [{"rank": n} | run.get("ended", {}).get(n, {}) for n in ranks]
        (directory / "run.json").write_text(
            json.dumps(about | {"ranks": entries} | {k: v for k, v in run.items() if k != "ended"})
        )
    return directory


def _lines(rank: int, about: dict, groups: list[list[dict]]) -> list[str]:
    lines = [
        {"name": "rank", "cat": "meta", "ph": "i", "s": "p", "ts": (ZERO - 1) * 1e6, "args": about | {"rank": rank}}
    ]
    counts: dict[str, int] = {}
    op = 0
    closing = []
    for group in groups:
        for event in group:
            args = event.setdefault("args", {})
            if event["ph"] in "Bb":
                op += 1
                if event["cat"] == "collective":
                    counts[args["group"]] = counts.get(args["group"], 0) + 1
                args["seq"] = counts[args["group"]] if event["cat"] == "collective" else None
            if event["ph"] in "BbEe":
                args["op"] = op
                event["id"] = op
            (closing if event["ph"] == "e" else lines).append(event)
    lines = sorted([*lines, *closing], key=lambda event: event["ts"])
    return [json.dumps({"pid": rank, "tid": 1} | event) + ",\n" for event in lines]


def _ts(t: float) -> float:
    return round((ZERO + t) * 1e6, 3)
