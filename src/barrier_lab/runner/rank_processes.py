"""The processes of a run: start ranks by ``torch.multiprocessing``, and end them with their children."""

import contextlib
import multiprocessing.forkserver
import os
import selectors
import signal
import sys
import threading
import time
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch.multiprocessing

from barrier_lab.errors import UsageError
from barrier_lab.planning.plan import Plan
from barrier_lab.rank import lifeline
from barrier_lab.rank.log import Log
from barrier_lab.rank.main import main as run_rank
from barrier_lab.run_directory import log_of
from barrier_lab.runner.output_drain import Drain

_SERVER_VARIABLES = ("CUDA_", "GLOO_", "MKL_", "NCCL_", "OMP_", "TORCH_")


@dataclass(slots=True)
class RankProcess:
    """The runner's side of one rank."""

    number: int
    process: object
    lifeline: tuple[int, int] | None  # its reading and its writing end; None once the rank and its children are ended
    drains: dict[int, tuple[str, Drain]]  # descriptor -> (stream, drain)
    log: Log
    pidfd: int | None
    method: str
    gone_since: float | None = None  # when it was seen to be gone, before its exit code is known
    exit_code: int | None = None
    signal: str | None = None
    alive: bool = True


# multiprocessing looks at all its children whenever one starts, and two threads that read one child's end at the same
# time get a wrong exit code: starts and ends go one at a time.
_children = threading.Lock()
_server: tuple[dict[str, str], set[str]] | None = None  # the environment of the forkserver, and what it has imported
_served: list[RankProcess] = []
_lifelines: set[int] = set()


def start(plan: Plan, environment: dict[str, str], ranks: list[RankProcess]) -> None:
    """Start all ranks, and add each to ``ranks``.  ``UsageError`` where the system does not let us."""
    context = torch.multiprocessing.get_context(plan.launcher)
    try:
        with _children, _hidden_main():
            if plan.launcher == "forkserver":
                _prepare_forkserver(context, Path(plan.script))
            for number in range(plan.world_size):
                ranks.append(_start_rank(context, plan, number, environment))
            if plan.launcher == "forkserver":
                _served.extend(ranks)
    except OSError as error:
        raise UsageError(
            f"Rank {len(ranks)} cannot be started ({error.strerror or error}): start fewer ranks, raise the shell's "
            "limits (ulimit -n and -u), make room on the disk, or set TMPDIR to a shorter path."
        ) from None


def open_standard_streams() -> None:
    """Fill the places of closed standard streams: a pipe that took one would be inherited by every child."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one


def _leave_server_to_parent() -> None:
    """A forked process needs a forkserver of its own."""
    server = multiprocessing.forkserver._forkserver
    if server._forkserver_alive_fd is not None:
        os.close(server._forkserver_alive_fd)
    server._forkserver_address = server._forkserver_alive_fd = server._forkserver_pid = None
    _served.clear()


def _let_lifelines_go() -> None:
    """A forked process that kept them would keep the ranks from seeing the end of their runner."""
    for descriptor in _lifelines:
        os.close(descriptor)
    _lifelines.clear()


os.register_at_fork(after_in_child=_let_lifelines_go)
os.register_at_fork(after_in_child=_leave_server_to_parent)


def _start_rank(context, plan: Plan, number: int, environment: dict[str, str]) -> RankProcess:
    life_read, life_write = context.Pipe(duplex=False)
    out_read, out_write = context.Pipe(duplex=False)
    err_read, err_write = context.Pipe(duplex=False)
    arguments = (plan, number, environment, life_read, out_write, err_write)
    process = context.Process(target=run_rank, args=arguments, name=f"rank {number}")
    process.start()
    for end in (out_write, err_write):
        end.close()
    life = _taken(life_read), _taken(life_write)
    _lifelines.update(life)
    drains = {}
    for stream, end in (("out", out_read), ("err", err_read)):
        descriptor = _taken(end)
        drains[descriptor] = (stream, Drain(descriptor))
    log = Log(log_of(Path(plan.directory), number), number)
    return RankProcess(number, process, life, drains, log, _pidfd(process.pid), plan.launcher)


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


def _prepare_forkserver(context, script: Path) -> None:
    """See to a server that has imported what the script needs, under the variables that torch reads at import.

    A server that still serves ranks is left alone: they would lose their exit codes.
    """
    global _server
    variables = {k: v for k, v in os.environ.items() if k.startswith(_SERVER_VARIABLES)}
    modules = {"torch", "torch.distributed"}
    if "DistributedDataParallel" in script.read_text(errors="replace"):
        modules.add("torch._dynamo")  # a second of work that its constructor would leave to each rank
    if _server:
        _served[:] = [one for one in _served if one.alive]
        if _served or (_server[0] == variables and modules <= _server[1]):
            return
        multiprocessing.forkserver._forkserver._stop()
        modules |= _server[1]
    _server = variables, modules
    context.set_forkserver_preload(sorted(modules))


def has_ended(one: RankProcess) -> bool:
    """Whether the rank's own process is gone."""
    if one.pidfd is None:
        return exit_code(one) is not None
    return is_readable(one.pidfd, 0)


def exit_code(one: RankProcess, within: float = 0.0) -> int | None:
    """The exit code of a rank: negative for a signal, None if it is not known within so many seconds.

    Nothing is locked while this waits: one rank that does not end must not hold up the others, and other runs.
    """
    limit = time.monotonic() + within
    while True:
        if _children.acquire(timeout=max(0.0, limit - time.monotonic())):
            try:
                code = one.process.exitcode
            finally:
                _children.release()
            if code is not None:
                return code
        if time.monotonic() >= limit:
            return None
        time.sleep(0.005)


def is_readable(descriptor: int, within: float) -> bool:
    """Something can be read from the descriptor, its end included, within so many seconds."""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        return bool(selector.select(timeout=within))


def send(one: RankProcess, number: int) -> None:
    """A signal to the rank's own process, if it is still there: its number may have passed to a process of others."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if one.pidfd is not None:
            signal.pidfd_send_signal(one.pidfd, number)
        elif not has_ended(one):
            os.kill(one.process.pid, number)


def end_group(one: RankProcess) -> None:
    """SIGKILL to the rank and its children, also if the rank itself is gone.

    The kernel sends it to what is left of the rank's process group when the lifeline's writing end closes, since the
    reading end is held open here as well: it knows the group itself, not its number, which may be another's by now.
    """
    if one.lifeline is None:
        return
    if not lifeline.KERNEL_KILLS:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(one.process.pid, signal.SIGKILL)
    send(one, signal.SIGKILL)  # for a rank that has not taken hold of its lifeline yet
    reading, writing = one.lifeline
    one.lifeline = None
    _lifelines.difference_update((reading, writing))
    os.close(writing)
    os.close(reading)
