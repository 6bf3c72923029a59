"""The processes of a run: start ranks by ``torch.multiprocessing``, and end them with their children."""

import contextlib
import multiprocessing.forkserver
import os
import selectors
import sys
import threading
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch.multiprocessing

from barrier_lab import output, rank
from barrier_lab.errors import UsageError

_SERVER_VARIABLES = ("CUDA_", "GLOO_", "MKL_", "NCCL_", "OMP_", "TORCH_")


@dataclass(slots=True)
class RankProcess:
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


# multiprocessing looks at all its children whenever one starts, and two threads that read one child's end at the same
# time get a wrong exit code: starts and ends go one at a time.
_children = threading.Lock()
_server: tuple[dict[str, str], set[str]] | None = None  # the environment of the forkserver, and what it has imported
_served: list[RankProcess] = []


def start(plan: dict, ranks: list[RankProcess]) -> None:
    """Start all ranks, and add each to ``ranks``.  ``UsageError`` where the system does not let us."""
    context = torch.multiprocessing.get_context(plan["start_method"])
    try:
        with _children, _hidden_main():
            if plan["start_method"] == "forkserver":
                _prepare_forkserver(context, Path(plan["script"]))
            for number in range(plan["world_size"]):
                ranks.append(_start_rank(context, plan, number))
            if plan["start_method"] == "forkserver":
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


os.register_at_fork(after_in_child=_leave_server_to_parent)


def _start_rank(context, plan: dict, number: int) -> RankProcess:
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
    return RankProcess(number, process, _taken(life_write), drains, log, _pidfd(process.pid))


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
        with _children:
            return one.process.exitcode is not None
    return is_readable(one.pidfd, 0)


def wait_for_end(one: RankProcess, within: float) -> int | None:
    """The exit code of a rank that has ended or is about to: negative for a signal, None if it goes on."""
    with _children:
        one.process.join(within)
        return one.process.exitcode


def is_readable(descriptor: int, within: float) -> bool:
    """Something can be read from the descriptor, its end included, within so many seconds."""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        return bool(selector.select(timeout=within))


def signal_group(one: RankProcess, number: int) -> None:
    """A signal to the rank and its children; to the rank alone if it leads no group yet."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(one.process.pid, number)
            return
