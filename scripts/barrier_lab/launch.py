"""Start ranks, keep the deadline, end them all.

``launch`` blocks until every rank has ended or was ended, and writes ``run.json``.  Nothing outlives it:
each rank holds a lifeline (see ``lifeline``), and its process group is killed when the rank ends.
"""

import contextlib
import json
import multiprocessing.forkserver
import os
import selectors
import signal
import socket
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist
import torch.multiprocessing

from barrier_lab import output, rank
from barrier_lab.errors import UsageError

GRACE = 5.0  # seconds that the others get, after a rank failed, to say what they see
STACK_TIME = 0.3  # seconds for the ranks to write their stacks once the deadline has passed
OUTPUT_LIMIT = 1_000_000  # characters of output kept per rank
_SERVER_VARIABLES = ("CUDA_", "GLOO_", "MKL_", "NCCL_", "OMP_", "TORCH_")

OnLine = Callable[[int, float | None, str, str], None]  # rank, seconds from t = 0 (None before it), stream, text


@dataclass(slots=True)
class _Rank:
    """The runner's side of one rank."""

    number: int
    process: object
    lifeline: int
    drains: dict[int, tuple[str, output.Drain]]  # descriptor -> (stream, drain)
    log: object
    pidfd: int | None
    kept: int = 0
    exit_code: int | None = None
    signal: str | None = None
    alive: bool = True


@dataclass(slots=True)
class _State:
    start_ns: int | None = None
    started: set[int] = field(default_factory=set)
    failed_at: float | None = None
    import_error: str | None = None
    stopped_ns: int | None = None


def launch(
    plan: dict,
    on_line: OnLine | None = None,
    on_tick: Callable[[], None] | None = None,
    cancel: threading.Event | None = None,
) -> str:
    """Run a plan to its end and return the outcome.

    ``plan`` is what ``experiment`` prepared: experiment, script, parameters, world_size, backend, backend_reason,
    deadline and timeout in seconds, start_method, init, directory.  ``UsageError`` if the script cannot be imported.
    ``KeyboardInterrupt`` while it waits, or ``cancel``, ends the ranks and gives the outcome "interrupted".
    """
    began = time.monotonic()
    state, ranks = _State(), []
    outcome, message = "interrupted", None
    store = _agent_store()
    plan |= {"port": store.port, "environ": _environment(plan), "launcher": plan["start_method"]}
    _write_run(plan, {})
    try:
        with contextlib.suppress(KeyboardInterrupt):
            _start(plan, ranks)
            outcome, message = _supervise(plan, ranks, state, on_line, on_tick, cancel)
    finally:
        with _uninterrupted():
            if outcome in ("hung", "interrupted"):
                _collect_stacks(plan, ranks)
            state.stopped_ns = time.monotonic_ns() if any(r.alive for r in ranks) else None
            _end_all(ranks, state, on_line)
            _write_run(plan, _result(plan, ranks, state, outcome, message, began))
    if state.import_error:
        name = Path(plan["script"]).name
        raise UsageError(f"{name} could not be imported ({state.import_error}): correct it, then run again.")
    return outcome


def _agent_store() -> dist.TCPStore:
    """The store at which the ranks meet, held here as torchrun's agent holds it: on a free port of the loopback."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    port = listener.getsockname()[1]
    return dist.TCPStore(
        "127.0.0.1",
        port,
        is_master=True,
        wait_for_workers=False,
        timeout=timedelta(seconds=rank.STARTUP_LIMIT),
        master_listen_fd=listener.detach(),
    )


def _environment(plan: dict) -> dict[str, str]:
    """The ranks' environment: the caller's, one thread a rank unless it says otherwise, and sockets on the loopback."""
    defaults = {"GLOO_SOCKET_IFNAME": "lo" if sys.platform.startswith("linux") else "lo0"}
    if plan["world_size"] > 1:
        defaults["OMP_NUM_THREADS"] = "1"  # as torchrun does
    return defaults | dict(os.environ)


# --- starting ---------------------------------------------------------------------------------------------

_starting = threading.Lock()
_server_environment: dict[str, str] | None = None


def _start(plan: dict, ranks: list[_Rank]) -> None:
    context = torch.multiprocessing.get_context(plan["start_method"])
    with _starting, _hidden_main():
        if plan["start_method"] == "forkserver":
            _prepare_forkserver(context)
        for number in range(plan["world_size"]):
            ranks.append(_start_rank(context, plan, number))


def _start_rank(context, plan: dict, number: int) -> _Rank:
    life_read, life_write = context.Pipe(duplex=False)
    out_read, out_write = context.Pipe(duplex=False)
    err_read, err_write = context.Pipe(duplex=False)
    process = context.Process(
        target=rank.main, args=(plan, number, life_read, out_write, err_write), name=f"rank {number}"
    )
    process.start()
    for end in (life_read, out_write, err_write):
        end.close()
    drains = {}
    for stream, end in (("out", out_read), ("err", err_read)):
        descriptor = _taken(end)
        drains[descriptor] = (stream, output.Drain(descriptor))
    log = (Path(plan["directory"]) / f"rank{number}.log").open("wb", buffering=0)
    return _Rank(number, process, _taken(life_write), drains, log, _pidfd(process.pid))


def _taken(connection) -> int:
    """The descriptor of a connection, which no longer closes it."""
    descriptor = os.dup(connection.fileno())
    connection.close()
    return descriptor


def _pidfd(pid: int) -> int | None:
    """A handle on the process itself: readable when it ends, whatever its children keep open."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


@contextlib.contextmanager
def _hidden_main() -> Iterator[None]:
    """Keep multiprocessing from running the caller's script again, as ``__mp_main__``, in each rank."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _prepare_forkserver(context) -> None:
    """Preload torch in the server, and start a new server when variables that torch reads at import have changed."""
    global _server_environment
    wanted = {k: v for k, v in os.environ.items() if k.startswith(_SERVER_VARIABLES)}
    if _server_environment not in (None, wanted):
        multiprocessing.forkserver._forkserver._stop()
    _server_environment = wanted
    context.set_forkserver_preload(["torch", "torch.distributed"])


# --- while they run ---------------------------------------------------------------------------------------


def _supervise(plan, ranks, state, on_line, on_tick, cancel) -> tuple[str, str | None]:
    """Drain output and watch for ends until the run is over.  Returns outcome and, if there is one, a message."""
    began = time.monotonic()
    with selectors.DefaultSelector() as selector:
        for one in ranks:
            for descriptor in one.drains:
                selector.register(descriptor, selectors.EVENT_READ, one)
            selector.register(one.pidfd or one.process.sentinel, selectors.EVENT_READ, None)
        while True:
            for key, _ in selector.select(timeout=_pause(plan, state)):
                if key.data is None:
                    selector.unregister(key.fileobj)
                elif not _drain(key.data, key.fd, state, on_line):
                    selector.unregister(key.fileobj)
            for one in ranks:
                _note_end(one, state)
            if on_tick:
                on_tick()
            over = _over(plan, ranks, state, began, cancel)
            if over:
                return over


def _pause(plan: dict, state: _State) -> float:
    """How long the loop may sleep: until the deadline, but no longer than it takes to notice a ``cancel``."""
    if state.start_ns is None or plan["deadline"] is None:
        return 0.1
    left = state.start_ns / 1e9 + plan["deadline"] - time.monotonic()
    return min(0.1, max(left, 0.001))


def _over(plan, ranks, state, began, cancel) -> tuple[str, str | None] | None:
    now = time.monotonic()
    if state.import_error:
        return "failed", state.import_error
    if not any(one.alive for one in ranks):
        return ("failed" if state.failed_at else "completed"), None
    if cancel and cancel.is_set():
        return "interrupted", None
    if state.failed_at and now > state.failed_at + GRACE:
        return "failed", None
    if state.start_ns is not None and plan["deadline"] and now > state.start_ns / 1e9 + plan["deadline"]:
        return ("failed" if state.failed_at else "hung"), None
    if len(state.started) < len(ranks) and now > began + rank.STARTUP_LIMIT and not state.failed_at:
        missing = ", ".join(str(one.number) for one in ranks if one.number not in state.started)
        return (
            "failed",
            f"Start-up took over {rank.STARTUP_LIMIT:.0f} s: rank {missing} never reached the common start.",
        )
    return None


def _drain(one: _Rank, descriptor: int, state: _State, on_line: OnLine | None) -> bool:
    """Take what one pipe holds; False when it has closed."""
    stream, drain = one.drains[descriptor]
    for t, text in drain.read():
        if t is None:
            _take_note(one, text, state)
        else:
            _keep(one, t, stream, text, state, on_line)
    return not drain.closed


def _take_note(one: _Rank, text: str, state: _State) -> None:
    word, _, detail = text.partition(" ")
    if word == "start":
        state.started.add(one.number)
        state.start_ns = int(detail)
    elif word == "import":
        state.import_error = state.import_error or detail


def _keep(one: _Rank, t: float, stream: str, text: str, state: _State, on_line: OnLine | None) -> None:
    """Log a line and show it, until the rank has printed too much."""
    if one.kept > OUTPUT_LIMIT:
        return
    one.kept += len(text) + 1
    if one.kept > OUTPUT_LIMIT:
        text = f"[rank {one.number} printed more than {OUTPUT_LIMIT:,} characters: the rest is not kept]"
    one.log.write(output.log_line(t, stream, text))
    if on_line:
        on_line(one.number, t - state.start_ns / 1e9 if state.start_ns else None, stream, text)


def _note_end(one: _Rank, state: _State) -> None:
    """Notice that a rank has ended, and end its children before its process group's number is free again."""
    if not one.alive or not _has_ended(one):
        return
    one.alive = False
    _kill_group(one)
    one.process.join(1.0)
    code = one.process.exitcode
    if code is not None and code < 0:
        one.signal = _signal_name(-code)
    else:
        one.exit_code = code
    if code != 0 and state.failed_at is None:
        state.failed_at = time.monotonic()


def _has_ended(one: _Rank) -> bool:
    if one.pidfd is None:
        return one.process.exitcode is not None
    with selectors.DefaultSelector() as selector:
        selector.register(one.pidfd, selectors.EVENT_READ)
        return bool(selector.select(timeout=0))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


# --- ending -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let no second Ctrl-C stop the cleaning up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _collect_stacks(plan: dict, ranks: list[_Rank]) -> None:
    """Wait for the stacks that the deadline makes each rank write; ask again those that did not."""
    directory = Path(plan["directory"])

    def without_stack() -> list[_Rank]:
        paths = {one.number: directory / f"rank{one.number}.stack" for one in ranks if one.alive}
        return [
            one for one in ranks if one.alive and paths[one.number].exists() and not paths[one.number].stat().st_size
        ]

    asked = False
    limit = time.monotonic() + STACK_TIME
    while (left := without_stack()) and time.monotonic() < limit:
        if not asked and time.monotonic() > limit - STACK_TIME / 2:
            asked = True
            for one in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one.process.pid, signal.SIGUSR1)
        time.sleep(0.01)


def _end_all(ranks: list[_Rank], state: _State, on_line: OnLine | None) -> None:
    """Kill what is left, take what it still had to say, and give back every descriptor."""
    for one in ranks:
        if one.alive:
            _kill_group(one)
        os.close(one.lifeline)
    for one in ranks:
        one.process.join(5.0)
        for descriptor in one.drains:
            limit = time.monotonic() + 0.5  # a child with a session of its own may hold the pipe open
            while not one.drains[descriptor][1].closed and time.monotonic() < limit and _readable(descriptor):
                _drain(one, descriptor, state, on_line)
            os.close(descriptor)
        one.log.close()
        if one.pidfd is not None:
            os.close(one.pidfd)


def _readable(descriptor: int) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        return bool(selector.select(timeout=0.05))


def _kill_group(one: _Rank) -> None:
    """SIGKILL to the rank and its children; to the rank alone if it leads no group yet."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(one.process.pid, signal.SIGKILL)
            return


# --- run.json ---------------------------------------------------------------------------------------------


def _result(plan, ranks, state, outcome, message, began) -> dict:
    stopped = None
    if state.stopped_ns and state.start_ns:
        stopped = plan["deadline"] if outcome == "hung" else (state.stopped_ns - state.start_ns) / 1e9
    return {
        "outcome": outcome,
        "message": message,
        "wall_s": round(time.monotonic() - began, 6),
        "stopped": stopped,
        "ranks": [
            {"rank": one.number, "pid": one.process.pid, "exit_code": one.exit_code, "signal": one.signal}
            for one in ranks
        ],
    }


def _write_run(plan: dict, result: dict) -> None:
    """Write ``run.json`` whole: a reader sees the old one or the new one."""
    kept = {
        k: plan[k]
        for k in (
            "experiment",
            "script",
            "parameters",
            "world_size",
            "backend",
            "backend_reason",
            "deadline",
            "timeout",
            "start_method",
            "launcher",
        )
    }
    versions = {"schema": 1, "torch": str(torch.__version__), "python": sys.version.split()[0]}
    path = Path(plan["directory"]) / "run.json"
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(versions | kept | result, indent=1))
    fresh.replace(path)
