"""Watch over the ranks of a run: take their output, notice their ends, decide when the run is over."""

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from barrier_lab import common_start, output
from barrier_lab.processes import RankProcess, has_ended, is_readable, signal_group, wait_for_end

GRACE = 5.0  # seconds that the others get, after a rank failed, to say what they see
STACK_TIME = 0.3  # seconds for the ranks to write their stacks once the deadline has passed
OUTPUT_LIMIT = 1_000_000  # characters of output kept per rank

OnLine = Callable[[int, float | None, str, str], None]  # rank, seconds from t = 0 (None before it), stream, text


@dataclass(slots=True)
class State:
    start_ns: int | None = None
    started: set[int] = field(default_factory=set)
    failed_at: float | None = None
    import_error: str | None = None
    stopped_ns: int | None = None


def supervise(plan, ranks, state, on_line, on_tick, cancel) -> tuple[str, str | None]:
    """Drain output and watch for ends until the run is over.  Returns outcome and, if there is one, a message."""
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
            over = _over(plan, ranks, state, began, cancel)
            if over:
                return over


def _pause(plan: dict, state: State) -> float:
    """How long the loop may sleep: until the deadline, but no longer than it takes to notice a ``cancel``."""
    if state.start_ns is None:
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
    if state.start_ns is not None and now > state.start_ns / 1e9 + plan["deadline"]:
        return ("failed" if state.failed_at else "hung"), None
    if len(state.started) < len(ranks) and now > began + common_start.STARTUP_LIMIT and not state.failed_at:
        missing = ", ".join(str(one.number) for one in ranks if one.number not in state.started)
        return (
            "failed",
            f"Start-up took over {common_start.STARTUP_LIMIT:.0f} s: rank {missing} never reached the common start.",
        )
    return None


def _drain(one: RankProcess, descriptor: int, state: State, on_line: OnLine | None) -> bool:
    """Take what one pipe holds; False when it has closed."""
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
    """Log a line and show it, until the rank has printed too much."""
    if one.kept > OUTPUT_LIMIT:
        return
    one.kept += len(text) + 1
    if one.kept > OUTPUT_LIMIT:
        text = f"[rank {one.number} printed more than {OUTPUT_LIMIT:,} characters: the rest is not kept]"
    with contextlib.suppress(OSError):  # a full disk: what is shown is not kept
        one.log.write(output.log_line(t, stream, text))
    if on_line:
        on_line(one.number, t - state.start_ns / 1e9 if state.start_ns else None, stream, text)


def _note_end(one: RankProcess, state: State) -> None:
    """Notice that a rank has ended, and end its children before its process group's number is free again."""
    if not one.alive or not has_ended(one):
        return
    one.alive = False
    signal_group(one, signal.SIGKILL)
    code = wait_for_end(one, 1.0)
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


def collect_stacks(plan: dict, ranks: list[RankProcess]) -> None:
    """Wait for the stacks that the deadline makes each rank write; ask again those that did not."""
    directory = Path(plan["directory"])

    def without_stack() -> list[RankProcess]:
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


def end_all(ranks: list[RankProcess], state: State, on_line: OnLine | None) -> None:
    """Kill what is left, take what it still had to say, and give back every descriptor."""
    left = [one for one in ranks if one.alive]
    for number in (signal.SIGSTOP, signal.SIGKILL):  # first all stand still: no rank may see another one die
        for one in left:
            signal_group(one, number)
    for one in ranks:
        os.close(one.lifeline)
    for one in ranks:
        wait_for_end(one, 5.0)
        for descriptor in one.drains:
            limit = time.monotonic() + 0.5  # a child with a session of its own may hold the pipe open
            while not one.drains[descriptor][1].closed and time.monotonic() < limit and is_readable(descriptor, 0.05):
                _drain(one, descriptor, state, on_line)
            os.close(descriptor)
        one.log.close()
        if one.pidfd is not None:
            os.close(one.pidfd)
        one.alive = False
