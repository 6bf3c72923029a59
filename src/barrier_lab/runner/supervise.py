"""Supervise the ranks of a run: read their output, detect exits, and decide when the run is over."""

import os
import selectors
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from barrier_lab.planning.plan import Plan
from barrier_lab.rank import common_start
from barrier_lab.rank.deadline import STACK_SIGNAL
from barrier_lab.run_directory import stack_of
from barrier_lab.runner.rank_processes import RankProcess, end_group, exit_code, has_ended, is_readable, send

GRACE = 5.0  # seconds that the other ranks get, after one failed, to report their errors
CODE_TIME = 10.0  # most seconds to wait for the exit code of a rank that has ended
STACK_TIME = 2.0  # most seconds to wait for the stacks after the deadline
ASK_AFTER = 0.15  # seconds of these after which a rank without stacks is signalled
STILL = 0.05  # seconds without growth after which the stacks are complete

OnLine = Callable[[int, float | None, str, str], None]  # rank, seconds since t = 0 (None before it), stream, text


@dataclass(slots=True)
class State:
    start_ns: int | None = None
    started: set[int] = field(default_factory=set)
    failed_at: float | None = None
    import_error: str | None = None
    stopped_ns: int | None = None


def supervise(plan: Plan, ranks: list[RankProcess], state: State, on_line, on_tick, cancel) -> tuple[str, str | None]:
    """Read output and watch for exits until the run is over.  Returns the outcome and a message or None."""
    began = time.monotonic()
    with selectors.DefaultSelector() as selector:
        for one in ranks:
            for descriptor in one.drains:
                selector.register(descriptor, selectors.EVENT_READ, one)
            selector.register(one.pidfd or one.process.sentinel, selectors.EVENT_READ, None)
        while True:
            for key, _ in selector.select(timeout=_pause(plan, state)):
                if key.data is None or not _drain(key.data, key.fd, state, on_line):
                    selector.unregister(key.fileobj)
            for one in ranks:
                _note_end(one, state)
            if on_tick:
                on_tick()
            if over := _over(plan, ranks, state, began, cancel):
                return over


def _pause(plan: Plan, state: State) -> float:
    """Timeout of the loop in seconds: until the deadline, but short enough to notice ``cancel``."""
    if state.start_ns is None:
        return 0.1
    left = state.start_ns / 1e9 + plan.deadline - time.monotonic()
    return min(0.1, max(left, 0.001))


def _over(plan: Plan, ranks, state: State, began: float, cancel) -> tuple[str, str | None] | None:
    now = time.monotonic()
    if state.import_error:
        return "failed", state.import_error
    if not any(one.alive for one in ranks):
        return ("failed" if state.failed_at else "completed"), None
    if cancel and cancel.is_set():
        return "interrupted", None
    if state.failed_at and now > state.failed_at + GRACE:
        return "failed", None
    # A rank that ended while others were being started may still be waiting for its exit code to be read.
    there = any(one.alive and one.gone_since is None for one in ranks)
    if there and state.start_ns is not None and now > state.start_ns / 1e9 + plan.deadline:
        return ("failed" if state.failed_at else "hung"), None
    if len(state.started) < len(ranks) and now > began + common_start.STARTUP_LIMIT and not state.failed_at:
        missing = ", ".join(str(one.number) for one in ranks if one.number not in state.started)
        return (
            "failed",
            f"Start-up took over {common_start.STARTUP_LIMIT:.0f} s: rank {missing} never reached the common start.",
        )
    return None


def _drain(one: RankProcess, descriptor: int, state: State, on_line: OnLine | None) -> bool:
    """Process the available data of a pipe.  Returns False once it is closed."""
    stream, drain = one.drains[descriptor]
    for t, text in drain.read():
        if t is None:
            _take_note(one, text, state)
        else:
            _keep(one, t, stream, text, state, on_line)
    return not drain.closed


def _take_note(one: RankProcess, text: str, state: State) -> None:
    word, _, detail = text.partition(" ")
    if word == "start" and detail.isdigit():
        state.started.add(one.number)
        state.start_ns = int(detail)
    elif word == "import":
        state.import_error = state.import_error or detail


def _keep(one: RankProcess, t: float, stream: str, text: str, state: State, on_line: OnLine | None) -> None:
    """Log and show a line, up to the output limit of the rank."""
    kept = one.log.keep(t, stream, text)
    if kept is not None and on_line:
        on_line(one.number, t - state.start_ns / 1e9 if state.start_ns else None, stream, kept)


def _note_end(one: RankProcess, state: State) -> None:
    """If a rank has ended, kill its children and record its exit code or signal."""
    if not one.alive or not has_ended(one):
        return
    end_group(one)
    one.gone_since = one.gone_since or time.monotonic()
    code = exit_code(one, within=0.05)
    if code is None and time.monotonic() < one.gone_since + CODE_TIME:
        return  # the forkserver learns it first and has not passed it on yet
    one.alive = False
    if code is not None and code < 0:
        one.signal = _signal_name(-code)
    else:
        one.exit_code = code
    if code != 0 and state.failed_at is None:
        state.failed_at = time.monotonic()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def collect_stacks(plan: Plan, ranks: list[RankProcess]) -> None:
    """Wait for the stacks that each rank dumps at the deadline, and signal the ranks that did not."""
    paths = [stack_of(Path(plan.directory), one.number) for one in ranks]
    began = whole_since = time.monotonic()
    sizes: list[int] = []
    asked = False
    while (now := time.monotonic()) < began + STACK_TIME:
        before, sizes = sizes, [_size(path) for path in paths]
        if sizes != before:
            whole_since = now
        left = [one for one, size in zip(ranks, sizes, strict=True) if one.alive and size == 0]
        if not left and now > whole_since + STILL:
            return
        if left and not asked and now > began + ASK_AFTER:
            asked = True
            for one in left:
                send(one, STACK_SIGNAL)
        time.sleep(0.01)


def _size(path: Path) -> int:
    """Size of a stack file in bytes; -1 if the rank did not get as far as creating it."""
    try:
        return path.stat().st_size
    except OSError:
        return -1


def end_all(ranks: list[RankProcess], state: State, on_line: OnLine | None) -> None:
    """Kill the remaining ranks, read their remaining output, and close all descriptors."""
    for one in ranks:
        if one.alive:
            send(one, signal.SIGSTOP)  # stop all of them first, so that no rank sees another one die
    for one in ranks:
        end_group(one)
    limit = time.monotonic() + 5.0  # for all of them together
    for one in ranks:
        exit_code(one, within=max(0.0, limit - time.monotonic()))
        for descriptor in one.drains:
            drained = time.monotonic() + 0.5  # a child in another session may hold the pipe open
            while not one.drains[descriptor][1].closed and time.monotonic() < drained and is_readable(descriptor, 0.05):
                _drain(one, descriptor, state, on_line)
            os.close(descriptor)
        one.log.close()
        if one.pidfd is not None:
            os.close(one.pidfd)
        one.alive = False
