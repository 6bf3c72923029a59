"""Write run directories in the format of the recorder, without running anything."""

import json
from itertools import count
from pathlib import Path

US = 1e6
ZERO = 1000.0  # CLOCK_MONOTONIC at the common start, in seconds
SCRIPT = "/home/reader/scripts/{}.py"


def call(name: str, begin: float, end: float | None, line: int = 20, **more) -> dict:
    """A blocking call of a rank, in seconds; ``end=None``: it does not return.

    ``more``: kind, group, seq, error, in_flight (True: a handle, so no B/E pair), file.
    """
    kind = more.pop("kind", "sleep" if name == "sleep" else "wait" if name == "wait" else "collective")
    return {"name": name, "begin": begin, "end": end, "line": line, "kind": kind, **more}


def barrier(begin: float, end: float | None, line: int = 20, **more) -> dict:
    """A blocking barrier."""
    return call("barrier", begin, end, line, **more)


def sleep(begin: float, end: float | None, line: int = 10) -> dict:
    """A time.sleep."""
    return call("sleep", begin, end, line)


def rank(*calls: dict, ended: float | None = None, **more) -> dict:
    """One rank; ``more``: exit_code, signal, error, prints [(t, text)], stack (text), started."""
    return {"calls": calls, "ended": ended, **more}


def write(directory: Path, ranks: list[dict], experiment: str = "made", **run) -> Path:
    """Write a run directory; ``run``: what run.json says beside the defaults (outcome, stopped, deadline …)."""
    directory.mkdir(parents=True, exist_ok=True)
    script = SCRIPT.format(experiment)
    about = {
        "schema": 1,
        "experiment": experiment,
        "script": script,
        "parameters": {},
        "world_size": len(ranks),
        "backend": "gloo",
        "backend_reason": "there is no CUDA device",
        "torch": "2.13.0",
        "deadline": 6.0,
        "outcome": "completed",
        "stopped": None,
    } | run
    entries = [{"rank": n, "exit_code": r.get("exit_code"), "signal": r.get("signal")} for n, r in enumerate(ranks)]
    (directory / "run.json").write_text(json.dumps(about | {"ranks": entries}))
    for number, made in enumerate(ranks):
        _write_rank(directory, number, made, about)
    return directory


def _write_rank(directory: Path, number: int, made: dict, about: dict) -> None:
    stamp = {"pid": number, "tid": 4000 + number}
    events = [(ZERO - 0.5, {"name": "rank", "cat": "meta", "ph": "i", "s": "p", "args": about | {"rank": number}})]
    if made.get("started", True):
        events.append((ZERO, {"name": "start", "cat": "meta", "ph": "i", "s": "p", "args": {}}))
    ops, seqs = count(1), {}
    for made_call in made["calls"]:
        events += _events(made_call, next(ops), seqs, about["script"])
    if made.get("error"):
        name, message, line = made["error"]
        head = "Traceback (most recent call last):"
        text = f'{head}\n  File "{about["script"]}", line {line}, in worker\n{name}: {message}\n'
        place = {"file": about["script"], "line": line, "function": "worker"}
        at = ZERO + (made["ended"] or 0.0)
        events.append(
            (
                at,
                {
                    "name": name,
                    "cat": "error",
                    "ph": "i",
                    "s": "p",
                    "args": {"message": message, "traceback": text} | place,
                },
            )
        )
    if made["ended"] is not None:
        events.append((ZERO + made["ended"], {"name": "end", "cat": "meta", "ph": "i", "s": "p", "args": {}}))
    events.sort(key=lambda pair: pair[0])
    first = {"name": "process_name", "ph": "M", "pid": number, "tid": 0, "args": {"name": f"rank {number}"}}
    lines = ["[\n", json.dumps(first) + ",\n"]
    lines += [json.dumps(event | stamp | {"ts": round(t * US, 3)}) + ",\n" for t, event in events]
    (directory / f"rank{number}.trace.json").write_text("".join(lines))
    log = "".join(f"{ZERO + t:.6f} out {text}\n" for t, text in made.get("prints", []))
    (directory / f"rank{number}.log").write_text(log)
    if made.get("stack"):
        (directory / f"rank{number}.stack").write_text(made["stack"])


def _events(made: dict, op: int, seqs: dict, script: str) -> list[tuple[float, dict]]:
    group = made.get("group", None if made["kind"] in ("sleep", "wait") else "default")
    seq = None
    if made["kind"] == "collective":
        seq = made.get("seq") or seqs.get(group, 0) + 1
        seqs[group] = seq
    args = {
        "op": op,
        "group": group,
        "seq": seq,
        "file": made.get("file", script),
        "line": made["line"],
        "function": "worker",
    }
    same = {"name": made["name"], "cat": made["kind"]}
    events = []
    # A blocking collective is recorded twice: the call on its thread, and the work below it.
    for begin, end in (
        [("b", "e")] if made.get("in_flight") else [("B", "E"), ("b", "e")][: 1 + (made["kind"] == "collective")]
    ):
        own = {"id": op} if begin == "b" else {}
        events.append((ZERO + made["begin"], same | own | {"ph": begin, "args": args}))
        if made["end"] is not None:
            closing = {"op": op} | ({"error": made["error"]} if made.get("error") else {})
            events.append((ZERO + made["end"], same | own | {"ph": end, "args": closing}))
    return events


def ordering(directory: Path) -> Path:
    """Two calls on two lines are one barrier: rank 0 comes late, and leaves at once."""
    zero = rank(sleep(0.0, 0.4003, 18), barrier(0.4005, 0.4008, 23), ended=0.4011,
                prints=[(0.001, "first before"), (0.4004, "second before"), (0.4009, "second after")])  # fmt: skip
    one = rank(barrier(0.0004, 0.4009, 20), sleep(0.401, 0.8013, 21), ended=0.802,
               prints=[(0.0008, "first before"), (0.4009, "first after"), (0.8014, "exit")])  # fmt: skip
    return write(directory, [zero, one], "ordering")


def one_sided(directory: Path) -> Path:
    """Rank 0 calls barrier twice, rank 1 once; the run is stopped."""
    zero = rank(sleep(0.001, 1.002, 17), barrier(1.003, 2.004, 19), barrier(2.005, None, 21),
                prints=[(0.0005, "rank 0 sleeps"), (2.0045, "rank 0: first barrier passed")])  # fmt: skip
    one = rank(
        sleep(0.001, 2.002, 17), barrier(2.003, 2.0037, 19), sleep(2.01, None, 25), prints=[(2.004, "rank 1 is done")]
    )
    return write(directory, [zero, one], "one_sided", outcome="hung", stopped=6.0)


def killed_peer(directory: Path) -> Path:
    """Rank 1 is killed while rank 0 waits for it: rank 0's barrier ends in an error."""
    error = "RuntimeError: [pair.cc:534] Connection closed by peer [127.0.0.1]:40312"
    zero = rank(
        barrier(0.001, 1.012, 22, error=error),
        ended=1.013,
        exit_code=1,
        error=("RuntimeError", "Connection closed by peer", 22),
    )
    one = rank(sleep(0.001, None, 19), signal="SIGKILL", prints=[(1.0, "rank 1 kills itself")])
    return write(directory, [zero, one], "killed_peer", outcome="failed")


def zero_first(directory: Path) -> Path:
    """Rank 0 prepares the data, the others wait for it at the start."""
    zero = rank(sleep(0.002, 1.2, 14), barrier(1.201, 1.2013, 30), sleep(1.202, 1.41, 40), ended=1.412)
    rest = [rank(barrier(0.001 * n, 1.2011 + 0.0004 * n, 27), sleep(1.2011 + 0.0005 * n, 1.2011 + 0.2 * n, 40),
                 ended=1.21 + 0.2 * n, prints=[(1.203, "found the data")]) for n in (1, 2, 3)]  # fmt: skip
    return write(directory, [zero, *rest], "zero_first")


def mismatch(directory: Path) -> Path:
    """barrier, all_reduce against all_reduce, barrier: both ranks stall."""
    zero = rank(sleep(0.001, 0.4), barrier(0.401, None, 14))
    one = rank(sleep(0.001, 0.8), call("all_reduce", 0.801, None, 18))
    return write(directory, [zero, one], "mismatch", outcome="hung", stopped=6.0)


def late_mismatch(directory: Path) -> Path:
    """The first barrier is released at once, then calls of different kinds meet."""
    zero = rank(barrier(0.001, 0.0101, 52), call("all_reduce", 0.0102, None, 54))
    rest = [rank(barrier(0.001, 0.0102, 24), barrier(0.0105, None, 52)) for _ in range(3)]
    return write(directory, [zero, *rest], "late_mismatch", outcome="hung", stopped=4.0)


def close_at_end(directory: Path, apart: float = 0.004) -> Path:
    """A long wait, and then four barriers within one per cent of the run."""
    calls = [barrier(1.0 + n * apart, 1.0003 + n * apart, 31) for n in range(5)]
    last = calls[-1]["end"]
    zero = rank(barrier(0.001, 1.0003, 31), *calls[1:], ended=last)
    return write(directory, [zero, rank(sleep(0.0, 0.9995, 28), *calls, ended=last)], "close_at_end")


def poisoned(directory: Path) -> Path:
    """A barrier of a group runs into its time-out; barriers of other groups follow closely."""
    error = "RuntimeError: Timed out waiting 1000ms for recv operation to complete"
    zero = rank(
        barrier(0.001, 1.001, 17, group="1", error=error),
        barrier(1.002, 1.0022, 17, group="1", error=error),
        barrier(1.003, 2.003, 17),
        barrier(2.004, 2.008, 17, group="2"),
        ended=2.01,
    )
    closed = "RuntimeError: Connection closed by peer"
    one = rank(
        sleep(0.001, 2.0, 30),
        barrier(2.001, 2.0012, 17, group="1", error=closed),
        barrier(2.0014, 2.0016, 17, group="1", error=closed),
        barrier(2.0025, 2.003, 17),
        barrier(2.0035, 2.008, 17, group="2"),
        ended=2.01,
    )
    return write(directory, [zero, one], "poisoned")


def handles(directory: Path) -> Path:
    """all_reduce with a handle: in flight beside the rank's work, then waited for."""
    ranks = []
    for n in range(3):
        t = 0.2 * n + 0.001
        calls = [
            sleep(0.001, t, 9),
            call("all_reduce", t + 0.001, 0.55, 12, in_flight=True),
            sleep(t + 0.002, t + 0.3, 13),
            call("wait", t + 0.3005, max(0.5502, t + 0.3007), 14),
            barrier(0.7 + 0.05 * n, 0.8501, 16),
        ]
        ranks.append(rank(*calls, ended=0.86))
    return write(directory, ranks, "handles")


def many(directory: Path, world_size: int, barriers: int, period: float = 0.01) -> Path:
    """Every rank works a little and meets the others, again and again."""
    ranks = []
    for n in range(world_size):
        calls = []
        for k in range(barriers):
            late = period * (0.2 + 0.6 * ((n * 7 + k * 3) % world_size) / world_size)
            last = period * (0.2 + 0.6 * (world_size - 1) / world_size)
            calls.append(barrier(k * period + late, k * period + last + 1e-5, 20 + k % 2))
        ranks.append(rank(*calls, ended=barriers * period))
    return write(directory, ranks, "many")
