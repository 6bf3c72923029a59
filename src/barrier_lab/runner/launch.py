"""Launch the ranks of a run, enforce the deadline, and terminate them all.

``launch`` blocks until every rank has ended or been killed, and writes ``run.json``.  No process outlives it:
each rank holds a lifeline (see ``lifeline``), and its process group is killed when the rank ends.
"""

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist

from barrier_lab.errors import UsageError
from barrier_lab.planning.plan import Plan
from barrier_lab.rank import common_start
from barrier_lab.run_directory import write_run_json
from barrier_lab.runner.rank_processes import open_standard_streams, start
from barrier_lab.runner.supervise import OnLine, State, collect_stacks, end_all, supervise


def launch(
    plan: Plan,
    on_line: OnLine | None = None,
    on_tick: Callable[[], None] | None = None,
    cancel: threading.Event | None = None,
) -> str:
    """Run a plan to completion and return the outcome.

    A ``KeyboardInterrupt`` or setting ``cancel`` terminates the ranks; the outcome is then "interrupted".
    Raises ``UsageError`` if the script cannot be imported.
    """
    began = time.monotonic()
    open_standard_streams()
    state, ranks = State(), []
    outcome, message = "interrupted", None
    store = _agent_store()
    _write_run(plan, {})
    try:
        with contextlib.suppress(KeyboardInterrupt):
            start(plan, _environment(plan, store.port), ranks)
            outcome, message = supervise(plan, ranks, state, on_line, on_tick, cancel)
    finally:
        with _uninterrupted():
            state.stopped_ns = time.monotonic_ns() if any(r.alive for r in ranks) else None
            if outcome in ("hung", "interrupted"):
                collect_stacks(plan, ranks)
            end_all(ranks, state, on_line)
            result = _result(plan, ranks, state, outcome, message, began)
            with contextlib.suppress(OSError):  # disk full or folder removed: what was written remains readable
                _write_run(plan, result)
    if state.import_error:
        name = Path(plan.script).name
        raise UsageError(f"{name} could not be imported ({state.import_error}): correct it, then run again.")
    return outcome


def _agent_store() -> dist.TCPStore:
    """Create the rendezvous store on a free loopback port, as torchrun's agent does."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    port = listener.getsockname()[1]
    return dist.TCPStore(
        "127.0.0.1",
        port,
        is_master=True,
        wait_for_workers=False,
        timeout=timedelta(seconds=common_start.STARTUP_LIMIT),
        master_listen_fd=listener.detach(),
    )


def _environment(plan: Plan, port: int) -> dict[str, str]:
    """The environment common to all ranks: the caller's, plus the variables that torchrun sets.

    Defaults, which the caller can override: one thread per rank, and sockets on the loopback interface.
    """
    size = str(plan.world_size)
    defaults = {"GLOO_SOCKET_IFNAME": "lo" if sys.platform.startswith("linux") else "lo0"}
    if plan.world_size > 1:
        defaults["OMP_NUM_THREADS"] = "1"  # as torchrun does
    job = {
        "WORLD_SIZE": size,
        "LOCAL_WORLD_SIZE": size,
        "GROUP_RANK": "0",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }
    return defaults | dict(os.environ) | job


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ignore signals that would interrupt the cleanup, such as a second Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupts = {signal.SIGINT} | {s for s in signal.Signals if signal.getsignal(s) is signal.default_int_handler}
    previous = {number: signal.signal(number, signal.SIG_IGN) for number in interrupts}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _result(plan, ranks, state, outcome, message, began) -> dict:
    stopped = None
    if state.stopped_ns and state.start_ns:
        stopped = (state.stopped_ns - state.start_ns) / 1e9
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


def _write_run(plan: Plan, result: dict) -> None:
    """Write the plan and its result to ``run.json``."""
    versions = {"torch": str(torch.__version__), "python": sys.version.split()[0]}
    facts = plan.facts() | {"start_method": plan.launcher}
    write_run_json(Path(plan.directory), versions | facts | result)
