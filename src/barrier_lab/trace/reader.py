"""Read a run directory (traces, logs, stacks and ``run.json``) into a :class:`Trace`.

The run directory is the only interface between the writing side (``runner``, ``rank``, ``recording``) and the reading
side (``trace``, ``diagnose``, ``timeline``).  Reading does not require torch and tolerates what a crash leaves behind:
a file without its end, a truncated last line, a rank without files.

Times are seconds since the common start of the ranks (t = 0), negative before it.
"""

import gc
import math
import os
import socket
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

from barrier_lab import run_directory
from barrier_lab.english import ordinal, who
from barrier_lab.trace.dropped import read_dropped, read_pieces, restore
from barrier_lab.trace.events import spans
from barrier_lab.trace.model import Output, Place, Rank, ThreadError, Trace
from barrier_lab.trace.reports import read_reports
from barrier_lab.trace.stacks import MOST_FRAMES, calls_worker, makes_group, own_frames, stack_frames, thread_frames


def read(directory: str | Path) -> Trace:
    """Read a run directory.  Raises ``FileNotFoundError`` if it contains no run."""
    collecting = gc.isenabled()
    gc.disable()  # scanning hundreds of thousands of new events for cycles doubles the time
    try:
        return _read(Path(directory))
    finally:
        if collecting:
            gc.enable()


def _read(directory: Path) -> Trace:
    run = run_directory.read_run_json(directory)
    if not run and (reported := read_reports(directory)):
        return reported
    events = {rank: read_pieces(path) for rank, path in run_directory.traces(directory).items()}
    if not run and not events:
        raise FileNotFoundError(f"{directory} holds no run (neither run.json nor any rankN.trace.json)")
    about = _first_about(events) | {k: v for k, v in run.items() if v is not None}
    world_size = about.get("world_size") or max(events, default=-1) + 1
    known = {entry["rank"]: entry for entry in run.get("ranks", [])}
    ranks = [_read_rank(directory, n, events.get(n, []), known.get(n, {}), about) for n in range(world_size)]
    if about.get("launcher") == "trace" and about.get("local_world_size", world_size) < world_size:
        for number in set(range(world_size)) - events.keys():
            ranks[number] = Rank(rank=number, started=True, unreported=_ELSEWHERE)
    restore(ranks, [read_dropped(rank.rank, events.get(rank.rank, [])) for rank in ranks])
    groups = _groups(ranks, events)
    _label_groups(ranks, groups)
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
        deadline=None if about.get("launcher") == "trace" else about.get("deadline"),  # an interrupt is no deadline
        stopped=run.get("stopped"),
        running=_is_running(run),
        launcher=about.get("launcher"),
        one_clock=not any(e["name"] == "clocks" for found in events.values() for e in found if e.get("cat") == "meta"),
        ranks=ranks,
        groups=groups,
    )


_ELSEWHERE = "left no record in this folder: show the folders of all nodes together"


def to_dict(trace: Trace) -> dict:
    """The dict that ``--json`` prints, without outcome and verdict."""
    ranks = []
    for rank in trace.ranks:
        spans = [{k: v for k, v in asdict(s).items() if k not in _UNTOLD} for s in rank.spans]
        entry = asdict(replace(rank, spans=[], dropped=[], earlier=[]))
        ranks.append({k: entry[k] for k in _TOLD} | {"spans": spans})
    return {
        "schema": run_directory.SCHEMA,
        "experiment": trace.experiment,
        "parameters": trace.parameters,
        "backend": trace.backend,
        "backend_reason": trace.backend_reason,
        "world_size": trace.world_size,
        "torch": trace.torch,
        "wall_s": trace.wall_s,
        "groups": trace.groups,
        "ranks": ranks,
    }


_TOLD = ("rank", "exit_code", "signal", "output", "stuck_at", "stuck_callers", "error", "error_at")
_UNTOLD = ("rank", "function", "handle")


def _is_running(run: dict) -> bool:
    """Whether the recorded command is still running."""
    if run.get("runner_pid") is None or run.get("host") != socket.gethostname():
        return False
    try:
        os.kill(run["runner_pid"], 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _first_about(events: dict[int, list[dict]]) -> dict:
    """Facts about the run from the first rank's trace, with the backend the script chose if it was not preset."""
    about = {}
    for rank in sorted(events):
        for event in events[rank]:
            if event.get("cat") == "meta" and event["name"] in ("rank", "backend"):
                about |= {key: value for key, value in event["args"].items() if about.get(key) is None}
            elif event.get("cat") == "group" and event["args"].get("backend"):  # from init_process_group
                about["backend"] = about.get("backend") or event["args"]["backend"]
        if about:
            break
    return about


def _read_rank(directory: Path, number: int, events: list[dict], known: dict, about: dict) -> Rank:
    rank = Rank(rank=number, exit_code=known.get("exit_code"), signal=known.get("signal"))
    start = next((e["ts"] for e in events if e["name"] == "start" and e.get("cat") == "meta"), None)
    rank.started = start is not None
    if start is None:
        start = next((e["ts"] for e in events if "ts" in e), 0.0)
    rank.output = _read_output(run_directory.log_of(directory, number), start / 1e6)
    if about.get("launcher") == "trace" and about.get("deadline"):  # the time of the interrupt
        events = _until(about["deadline"], events, start)
    stack = "" if _goes_on(events) else _read_text(run_directory.stack_of(directory, number))
    _take_stack(rank, stack, about.get("script"), events)
    if stack and about.get(
        "deadline"
    ):  # between the deadline and its own end, a rank may see others being killed: not part of the run
        events = _until(about["deadline"], events, start)
        rank.output = [line for line in rank.output if line.t <= about["deadline"]]
    rank.spans = spans(number, events, start)
    for event in events:
        if event.get("cat") in ("meta", "error", "leave", "thread_error"):
            _take_mark(rank, event, start)
    rank.vanished = rank.started and not rank.exited and rank.ended is None and _has_vanished(events, about, start)
    times = [(e["ts"] - start) / 1e6 for e in events if "ts" in e] + [line.t for line in rank.output]
    rank.last = max(times, default=0.0)
    _mark_blocked_below_python(rank)
    return rank


def _has_vanished(events: list[dict], about: dict, start: float) -> bool:
    """Whether the process of a traced rank that recorded no end is gone, not because the job was interrupted."""
    me = next((e["args"] for e in events if e.get("cat") == "meta" and e["name"] == "rank"), {})
    if about.get("launcher") != "trace" or me.get("os_pid") is None:
        return False
    if about.get("deadline"):  # a rank that was there until the interrupt would have dumped its stacks
        idle = about["deadline"] - max((e["ts"] - start) / 1e6 for e in events if "ts" in e)
        return idle > me.get("stall", math.inf) + 2 and not any(e.get("cat") == "stall" for e in events)
    return about.get("command_exit_code") is not None or (me["host"] == socket.gethostname() and _is_gone(me["os_pid"]))


def _is_gone(process: int) -> bool:
    """Whether a process of this host has ended, reaped or not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return Path("/proc/self").exists()
    except OSError:
        return False


def _until(moment: float, events: list[dict], start: float) -> list[dict]:
    return [event for event in events if (event.get("ts", start) - start) / 1e6 <= moment]


def _goes_on(events: list[dict]) -> bool:
    """Whether a rank made progress after dumping its stacks: a straggler that arrives late did not hang."""
    stalls = [i for i, event in enumerate(events) if event.get("cat") == "stall"]
    return bool(stalls) and any(event["ph"] in "BEbe" for event in events[stalls[-1] :])


def _take_stack(rank: Rank, stack: str, script: str | None, events: list[dict]) -> None:
    """Set where the threads were in user code, from the stacks."""
    installed = next((e["args"]["folders"] for e in events if e.get("cat") == "installed"), ())
    frames = stack_frames(stack)
    if own := own_frames(frames, script, installed):
        rank.stuck_at, rank.stuck_callers = own[0], tuple(own[1:])
    rank.stuck_in = next((f.function for f in reversed(frames) if makes_group(f)), None)
    inside = any(calls_worker(frame) for frame in frames[1:])
    whole = 0 < len(frames) < MOST_FRAMES  # else the user's frames may be among those that were not written
    rank.leaving = rank.started and whole and not (inside or rank.stuck_at or rank.stuck_in)
    names = {e["args"].get("ident"): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    for ident, found in list(thread_frames(stack).items())[:-1]:
        if own := own_frames(found, script, installed):
            rank.stuck_threads.append((names.get(ident), tuple(own)))


def _groups(ranks: list[Rank], events: dict[int, list[dict]]) -> dict[str, tuple[int, ...]]:
    """The ranks of each group.  Groups of the same name with different members get distinct names."""
    said: dict[int, dict[str, tuple[int, ...]]] = {}
    for number, found in events.items():
        marks = (e["args"] for e in found if e.get("cat") == "group" and e["name"] == "group")
        said[number] = {args["group"]: tuple(args["ranks"]) for args in marks if args.get("ranks")}
    groups: dict[str, tuple[int, ...]] = {}
    for rank in ranks:
        renamed = {}
        for name, members in said.get(rank.rank, {}).items():
            if groups.setdefault(name, members) != members:
                renamed[name] = f"{name} of {members}"
                groups[renamed[name]] = members
        for span in rank.calls() if renamed else ():
            span.group = renamed.get(span.group, span.group)
    return groups


def _label_groups(ranks: list[Rank], groups: dict[str, tuple[int, ...]]) -> None:
    """Label each call on a non-default group with a description of the group."""
    labels: dict[str | None, str] = {}
    alike: Counter = Counter()
    for name, members in groups.items():
        base, _, life = name.partition("#")
        if base == "default":
            labels[name] = f"the {ordinal(int(life))} default group" if life else ""
            continue
        alike[members] += 1
        nth = f"{ordinal(alike[members])} " if alike[members] > 1 else ""
        labels[name] = f"the {nth}group of {who(members)}"
    for rank in ranks:
        for span in rank.calls():
            if span.group not in (None, "default") and span.kind != "group":
                name = f"new group {span.group}" if span.group.isdigit() else f"group {span.group}"
                span.on = labels.get(span.group, name)


def _take_mark(rank: Rank, event: dict, start: float) -> None:
    args = event.get("args", {})
    if event["cat"] == "error":
        rank.error = args["traceback"]
        rank.error_by, rank.error_chain = args.get("raised_by"), tuple(args.get("chain", ()))
        if args.get("file"):
            rank.error_at = Place(args["file"], args["line"], args["function"])
    elif event["cat"] == "leave":
        rank.left_at = Place(args["file"], args["line"], args["function"])
    elif event["cat"] == "thread_error":
        place = Place(*args["place"]) if args.get("place") else None
        rank.thread_errors.append(ThreadError((event["ts"] - start) / 1e6, args["thread"], args["error"], place))
    elif event["name"] == "end":
        rank.ended = (event["ts"] - start) / 1e6
    elif event["name"] == "exit":
        rank.exited = True
        if rank.exit_code is None and rank.signal is None:
            rank.exit_code = args.get("code")
    elif event["name"] == "result":
        rank.result = args["value"]


def _read_text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        return ""


def _read_output(path: Path, start: float) -> list[Output]:
    """Parse ``rankN.log``, whose lines are ``<monotonic seconds> <out|err> <text>``."""
    lines = []
    for line in _read_text(path).split("\n"):
        stamp, _, rest = line.partition(" ")
        stream, _, text = rest.partition(" ")
        try:
            lines.append(Output(float(stamp) - start, {"out": "stdout", "err": "stderr"}[stream], text))
        except (ValueError, KeyError):
            continue
    return lines


def _mark_blocked_below_python(rank: Rank) -> None:
    """Mark incomplete collectives started from C++ as blocking if the rank is still on the line that called them."""
    here = rank.stuck_at
    for span in rank.spans:
        if here and span.end is None and span.kind == "collective" and not span.handle and span.thread is None:
            same_line = (span.file, span.line) == (here.file, here.line)
            if same_line and (not span.callers or not rank.stuck_callers or span.callers == rank.stuck_callers):
                span.blocked = True
