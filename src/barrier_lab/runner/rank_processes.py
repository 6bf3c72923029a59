"""Start rank processes with ``torch.multiprocessing``, and kill them with their children."""

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
    """The runner's state of one rank."""

    number: int
    process: object
    lifeline: tuple[int, int] | None  # read end, write end; None once the rank and its children were killed
    drains: dict[int, tuple[str, Drain]]  # descriptor -> (stream, drain)
    log: Log
    pidfd: int | None
    method: str
    gone_since: float | None = None  # when it was found to have ended; its exit code may come later
    exit_code: int | None = None
    signal: str | None = None
    alive: bool = True


# multiprocessing polls all its children whenever it starts one, and two threads that poll the same child concurrently
# get a wrong exit code.  The lock serializes starting and polling.
_children = threading.Lock()
_server: tuple[dict[str, str], set[str]] | None = None  # environment and imported modules of the forkserver
_served: list[RankProcess] = []
_lifelines: set[int] = set()


def start(plan: Plan, environment: dict[str, str], ranks: list[RankProcess]) -> None:
    """Start all ranks and append each to ``ranks``.  Raises ``UsageError`` if the system refuses."""
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
    """Reopen closed standard streams on /dev/null: a pipe with such a descriptor would be inherited by every child."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor, which is this one


def _leave_server_to_parent() -> None:
    """Detach a forked process from its parent's forkserver: it needs its own."""
    server = multiprocessing.forkserver._forkserver
    if server._forkserver_alive_fd is not None:
        os.close(server._forkserver_alive_fd)
    server._forkserver_address = server._forkserver_alive_fd = server._forkserver_pid = None
    _served.clear()


def _let_lifelines_go() -> None:
    """Close the lifelines in a forked process, where they would hide the end of the runner from the ranks."""
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
    """Duplicate the descriptor of a connection and close the connection."""
    descriptor = os.dup(connection.fileno())
    connection.close()
    return descriptor


def _pidfd(pid: int) -> int | None:
    """Open a pidfd of the process, which is readable once it ends, whatever its children keep open."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


@contextlib.contextmanager
def _hidden_main() -> Iterator[None]:
    """Keep multiprocessing from importing the caller's script again, as ``__mp_main__``, in each rank."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _prepare_forkserver(context, script: Path) -> None:
    """Make sure that the forkserver preloads what the script needs, under the variables that torch reads at import.

    A server with running ranks is not restarted, since their exit codes would be lost.
    """
    global _server
    variables = {k: v for k, v in os.environ.items() if k.startswith(_SERVER_VARIABLES)}
    modules = {"torch", "torch.distributed"}
    if "DistributedDataParallel" in script.read_text(errors="replace"):
        modules.add("torch._dynamo")  # takes a second, which each rank would spend in the DDP constructor
    if _server:
        _served[:] = [one for one in _served if one.alive]
        if _served or (_server[0] == variables and modules <= _server[1]):
            return
        multiprocessing.forkserver._forkserver._stop()
        modules |= _server[1]
    _server = variables, modules
    context.set_forkserver_preload(sorted(modules))


def has_ended(one: RankProcess) -> bool:
    """Whether the rank's own process has ended."""
    if one.pidfd is None:
        return exit_code(one) is not None
    return is_readable(one.pidfd, 0)


def exit_code(one: RankProcess, within: float = 0.0) -> int | None:
    """The exit code of a rank: negative for a signal, None if not available within ``within`` seconds.

    Does not hold the lock while waiting, so that a rank that does not end cannot block other ranks and runs.
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
    """Whether the descriptor becomes readable, or reaches end of file, within ``within`` seconds."""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        return bool(selector.select(timeout=within))


def send(one: RankProcess, number: int) -> None:
    """Send a signal to the rank's process if it still exists: its pid may have been reused."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if one.pidfd is not None:
            signal.pidfd_send_signal(one.pidfd, number)
        elif not has_ended(one):
            os.kill(one.process.pid, number)


def end_group(one: RankProcess) -> None:
    """Send SIGKILL to the rank and its children, even if the rank itself has ended.

    When the write end of the lifeline closes, the kernel signals the remaining processes of the rank's process group,
    since the read end is also open here.  Unlike a group id, which may have been reused, this always means that group.
    """
    if one.lifeline is None:
        return
    if not lifeline.KERNEL_KILLS:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(one.process.pid, signal.SIGKILL)
    send(one, signal.SIGKILL)  # for a rank that has not set up its lifeline yet
    reading, writing = one.lifeline
    one.lifeline = None
    _lifelines.difference_update((reading, writing))
    os.close(writing)
    os.close(reading)
