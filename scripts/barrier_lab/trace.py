"""Read a run directory: traces, logs, stacks and ``run.json`` become one :class:`Trace`.

A run directory is the only thing that the writing side (``launch``, ``rank``, ``recorder``) and the
reading side (``diagnose``, ``timeline``, ``experiment``) share.  Reading needs no torch and accepts
what a crash leaves behind: a file without its end, a torn last line, a rank without any file.

Times are seconds from the common start of the ranks (t = 0); what came before is negative.
"""

import gc
import json
import os
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

SCHEMA = 1


@dataclass(slots=True)
class Span:
    """One interval on one rank: a collective, a message, a wait for a handle, or a sleep."""

    rank: int
    name: str  # as in Python: "barrier", "all_reduce", "wait", "sleep", …
    kind: str  # "collective", "p2p", "wait" or "sleep"
    group: str | None  # "default" or the group's own name; None for a sleep
    seq: int | None  # 1 for the rank's first collective on this group; None for sleeps, waits and messages
    begin: float  # seconds from the common start
    end: float | None  # None: it had not ended when the recording stopped
    blocked: bool  # the rank could do nothing else meanwhile
    error: str | None = None  # the exception that ended it, as "RuntimeError: first line"
    file: str | None = None  # where the experiment called it
    line: int | None = None
    function: str | None = None


@dataclass(slots=True)
class Output:
    """One line that a rank, or the C++ below it, printed."""

    t: float
    stream: str  # "stdout" or "stderr"
    text: str


@dataclass(slots=True)
class Place:
    """A line of source code."""

    file: str
    line: int
    function: str


@dataclass(slots=True)
class Rank:
    """All that is known of one rank."""

    rank: int
    exit_code: int | None = None  # as the shell would see it for a normal exit; None for a signal or unknown
    signal: str | None = None  # "SIGKILL", … when a signal ended it before the runner did
    output: list[Output] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)  # in order of begin
    stuck_at: Place | None = None  # where it stood when the deadline passed
    stuck_in: str | None = None  # the call there by which ranks make a group together: "new_group", …
    leaving: bool = False  # then it had come out of its worker, and its objects were being destroyed
    error: str | None = None  # what it raised, with the traceback through the experiment's own lines
    error_at: Place | None = None  # the experiment's line that raised
    result: object = None  # what its worker returned, if JSON can hold it
    started: bool = False  # it reached the common start
    ended: float | None = None  # when its worker returned or raised; None if it never did
    last: float = 0.0  # the latest moment of which its files speak


@dataclass(slots=True)
class Trace:
    """One run, as its directory tells it."""

    directory: Path
    experiment: str
    script: str | None
    parameters: dict
    outcome: str | None  # None: the directory does not say (still going, or its runner was killed)
    message: str | None  # the runner's own sentence, if it has one ("start-up took over 120 s")
    backend: str | None
    backend_reason: str | None
    world_size: int
    torch: str | None
    wall_s: float | None
    deadline: float | None
    stopped: float | None  # when the runner ended the ranks that were left; None if it had not to
    ranks: list[Rank]

    @property
    def end(self) -> float:
        """The latest moment of the run, in seconds: the right edge of its timeline."""
        return max([self.stopped or 0.0, *(rank.last for rank in self.ranks)])


def read(directory: str | Path) -> Trace:
    """Read a run directory.  ``FileNotFoundError`` if it holds no run."""
    collecting = gc.isenabled()
    gc.disable()  # it would search hundreds of thousands of new events for cycles again and again: twice the time
    try:
        return _read(Path(directory))
    finally:
        if collecting:
            gc.enable()


def _read(directory: Path) -> Trace:
    run = _read_json(directory / "run.json")
    events = {
        int(p.name[4:-11]): _read_events(p) for p in directory.glob("rank*.trace.json") if p.name[4:-11].isdigit()
    }
    if not run and not events:
        raise FileNotFoundError(f"{directory} holds no run (neither run.json nor any rankN.trace.json)")
    about = _first_about(events) | {k: v for k, v in run.items() if v is not None}
    world_size = about.get("world_size") or max(events, default=-1) + 1
    known = {entry["rank"]: entry for entry in run.get("ranks", [])}
    ranks = [_read_rank(directory, n, events.get(n, []), known.get(n, {}), about) for n in range(world_size)]
    return Trace(
        directory=directory,
        experiment=about.get("experiment") or directory.name,
        script=about.get("script"),
        parameters=about.get("parameters") or {},
        outcome=run.get("outcome"),
        message=run.get("message"),
        backend=about.get("backend"),
        backend_reason=about.get("backend_reason"),
        world_size=world_size,
        torch=about.get("torch"),
        wall_s=run.get("wall_s"),
        deadline=about.get("deadline"),
        stopped=run.get("stopped"),
        ranks=ranks,
    )


def to_dict(trace: Trace) -> dict:
    """The JSON object of ``--json``, without outcome and verdict."""
    ranks = []
    for rank in trace.ranks:
        spans = [{k: v for k, v in asdict(s).items() if k not in ("rank", "function")} for s in rank.spans]
        entry = asdict(rank)
        kept = {k: entry[k] for k in ("rank", "exit_code", "signal", "output", "stuck_at", "error")}
        ranks.append(kept | {"spans": spans})
    return {
        "schema": SCHEMA,
        "experiment": trace.experiment,
        "parameters": trace.parameters,
        "backend": trace.backend,
        "backend_reason": trace.backend_reason,
        "world_size": trace.world_size,
        "torch": trace.torch,
        "wall_s": trace.wall_s,
        "ranks": ranks,
    }


def _read_json(path: Path) -> dict:
    """A ``run.json`` of ours; nothing for a torn one, or for another program's."""
    try:
        run = json.loads(path.read_text())
    except (FileNotFoundError, IsADirectoryError, ValueError):
        return {}
    return run if isinstance(run, dict) and run.get("schema") == SCHEMA else {}


def _read_events(path: Path) -> list[dict]:
    """The events of one trace file: one a line; a torn line is left out."""
    data = path.read_bytes().strip().removeprefix(b"[").removesuffix(b"]")
    events = []
    for whole in (data, data.rpartition(b"\n")[0]):  # at once if possible, maybe without a torn last line: it is faster
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


def _first_about(events: dict[int, list[dict]]) -> dict:
    """What the first rank says of the run, with the backend that the script chose if nobody chose it before."""
    about = {}
    for rank in sorted(events):
        for event in events[rank]:
            if event.get("cat") == "meta" and event["name"] in ("rank", "backend"):
                about |= {key: value for key, value in event["args"].items() if about.get(key) is None}
        if about:
            break
    return about


def _read_rank(directory: Path, number: int, events: list[dict], known: dict, about: dict) -> Rank:
    rank = Rank(rank=number, exit_code=known.get("exit_code"), signal=known.get("signal"))
    start = next((e["ts"] for e in events if e["name"] == "start" and e.get("cat") == "meta"), None)
    rank.started = start is not None
    if start is None:
        start = next((e["ts"] for e in events if "ts" in e), 0.0)
    rank.output = _read_output(directory / f"rank{number}.log", start / 1e6)
    stack = _read_text(directory / f"rank{number}.stack")
    frames = stack_frames(stack)
    rank.stuck_at = _stuck_at(frames, about.get("script"))
    rank.stuck_in = next((f.function for f in reversed(frames) if _makes_group(f)), None)
    rank.leaving = rank.started and bool(frames) and _calls_worker(frames[0])
    if stack and about.get(
        "deadline"
    ):  # between the deadline and its end, a rank may see others end: no part of the run
        horizon = about["deadline"]
        events = [event for event in events if (event.get("ts", start) - start) / 1e6 <= horizon]
        rank.output = [line for line in rank.output if line.t <= horizon]
    rank.spans = _spans(number, events, start)
    for event in events:
        if event.get("cat") in ("meta", "error"):
            _take_mark(rank, event, start)
    times = [(e["ts"] - start) / 1e6 for e in events if "ts" in e] + [line.t for line in rank.output]
    rank.last = max(times, default=0.0)
    _mark_blocked_below_python(rank)
    return rank


def _take_mark(rank: Rank, event: dict, start: float) -> None:
    args = event.get("args", {})
    if event["cat"] == "error":
        rank.error = args["traceback"]
        if args.get("file"):
            rank.error_at = Place(args["file"], args["line"], args["function"])
    elif event["name"] == "end":
        rank.ended = (event["ts"] - start) / 1e6
    elif event["name"] == "result":
        rank.result = args["value"]


def _read_text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        return ""


def _spans(number: int, events: list[dict], start: float) -> list[Span]:
    """Pair the events: B with E by (thread, op) or nesting, b with e by id; a blocking call keeps its B/E pair only."""
    spans: dict[int, Span] = {}
    blocking: dict[int, Span] = {}
    for event in events:
        phase, args = event["ph"], event.get("args", {})
        if phase in ("B", "b"):
            if args["op"] in blocking:
                continue
            table = blocking if phase == "B" else spans
            table[args["op"]] = Span(
                rank=number,
                name=event["name"],
                kind=event["cat"],
                group=args.get("group"),
                seq=args.get("seq"),
                begin=(event["ts"] - start) / 1e6,
                end=None,
                blocked=phase == "B",
                file=args.get("file"),
                line=args.get("line"),
                function=args.get("function"),
            )
        elif phase in ("E", "e"):
            span = (blocking if phase == "E" else spans).get(args["op"])
            if span is not None:
                span.end = (event["ts"] - start) / 1e6
                span.error = args.get("error") or span.error
    return sorted((spans | blocking).values(), key=lambda span: span.begin)


def _read_output(path: Path, start: float) -> list[Output]:
    """Lines of ``rankN.log``: ``<monotonic seconds> <out|err> <text>``."""
    lines = []
    for line in _read_text(path).split("\n"):
        stamp, _, rest = line.partition(" ")
        stream, _, text = rest.partition(" ")
        try:
            lines.append(Output(float(stamp) - start, {"out": "stdout", "err": "stderr"}[stream], text))
        except (ValueError, KeyError):
            continue
    return lines


_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$')


def stack_frames(text: str) -> list[Place]:
    """The frames of the main thread in faulthandler's text, innermost first."""
    threads = re.split(r"^(?:Current thread|Thread) .*\n", text, flags=re.MULTILINE)
    last = threads[-1] if len(threads) > 1 else ""  # faulthandler writes the main thread last
    found = (_FRAME.match(line) for line in last.splitlines())
    return [Place(m["file"], int(m["line"]), m["function"]) for m in found if m]


_MAKES_GROUP = {"init_process_group", "new_group", "new_subgroups", "new_subgroups_by_enumeration", "split_group"}


def _makes_group(frame: Place) -> bool:
    """A call in which ranks wait for each other at the store, where no collective is recorded."""
    return frame.function in _MAKES_GROUP and f"{os.sep}torch{os.sep}distributed{os.sep}" in frame.file


def _calls_worker(frame: Place) -> bool:
    """The lab's own frame below every worker: it is the innermost when the worker has returned."""
    return frame.function == "run_worker" and frame.file.endswith(f"barrier_lab{os.sep}rank.py")


def _stuck_at(frames: list[Place], script: str | None) -> Place | None:
    """The innermost frame of the experiment's own file, else the innermost outside installed packages."""
    written = (script or "").encode("ascii", "backslashreplace").decode()  # as faulthandler writes a name
    for frame in frames:
        if frame.file == written:
            return Place(script, frame.line, frame.function)
    installed = ("<frozen", "<string>", "site-packages", "barrier_lab", f"{os.sep}lib{os.sep}python3")
    return next((frame for frame in frames if not any(part in frame.file for part in installed)), None)


def _mark_blocked_below_python(rank: Rank) -> None:
    """A collective that C++ started and that never completed blocks the rank if the rank still stands on its line."""
    here = rank.stuck_at
    for span in rank.spans:
        if here and span.end is None and span.kind == "collective" and (span.file, span.line) == (here.file, here.line):
            span.blocked = True
