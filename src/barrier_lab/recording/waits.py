"""Wrap what the dispatcher cannot see: waits for handles, reduce operations, sleeps, and errors in threads."""

import functools
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d

from barrier_lab.frames import is_own
from barrier_lab.recording.callsite import callsite, exception_place
from barrier_lab.recording.patching import replace
from barrier_lab.recording.recorder import describe
from barrier_lab.recording.watch import Watch

_STARTS = (
    "_allgather_base", "_reduce_scatter_base", "allgather", "allgather_coalesced", "allgather_into_tensor_coalesced",
    "allreduce", "allreduce_coalesced", "alltoall", "alltoall_base", "barrier", "broadcast", "gather", "recv",
    "recv_anysource", "reduce", "reduce_scatter", "reduce_scatter_tensor_coalesced", "scatter", "send",
    "all_gather_single", "all_to_all_single", "reduce_scatter_single",
)  # fmt: skip


def wrap_work(watch: Watch) -> Callable[[], None]:
    """Wrap ``Work.wait`` and the methods that return a handle.  Returns a function that undoes it."""
    wrappers = {
        (dist.Work, "wait"): _waiting,
        (dist.Work, "get_future"): _with_handle,
        (torch._C.Future, "wait"): _waiting,
    }
    wrappers |= {(dist.ProcessGroup, name): _starting for name in _STARTS if hasattr(dist.ProcessGroup, name)}
    return replace({place: wrapper(watch, getattr(*place)) for place, wrapper in wrappers.items()})


def _waiting(watch: Watch, wait: Callable) -> Callable:
    recorder, here = watch.recorder, watch.here

    @functools.wraps(wait)
    def recorded(self: Any, *args: Any, **kwargs: Any) -> Any:
        blocking = here.blocking
        handle = None
        if blocking is not None and blocking[0] is self:
            here.blocking = None  # this wait belongs to the blocking call and ends it
            _, name, cat, op = blocking
        elif watch.on:
            name = cat = "wait"
            handle = watch.works.get(self)
            site = callsite(sys._getframe(1))
            facts = watch.facts(site, "wait")
            op = recorder.begin(name, cat, place=site.place, facts=facts, of=handle and handle[2])
        else:
            return wait(self, *args, **kwargs)
        error = None
        try:
            return wait(self, *args, **kwargs)
        except BaseException as raised:
            error = describe(raised)
            raise
        finally:
            recorder.end(name, cat, op, error=error)
            if handle is not None and handle[1] == "p2p":
                # On gloo a message has no future; it ends when it has been waited for.
                recorder.end(handle[0], "p2p", op=handle[2], error=error, flight=True)
                watch.works.pop(self, None)

    return recorded


def _with_handle(watch: Watch, get_future: Callable) -> Callable:
    """Wrap ``get_future``: a future gets the handle of its Work."""

    @functools.wraps(get_future)
    def recorded(self: Any) -> Any:
        future = get_future(self)
        if watch.on and (handle := watch.works.get(self)) is not None:
            watch.works[future] = handle
        return future

    return recorded


def _starting(watch: Watch, start: Callable) -> Callable:
    """Wrap a method of ``ProcessGroup`` that starts a call, to get the returned Work and the reduce operation."""
    here, works = watch.here, watch.works

    @functools.wraps(start)
    def recorded(self: dist.ProcessGroup, *args: Any, **kwargs: Any) -> Any:
        if not watch.on:
            return start(self, *args, **kwargs)
        here.from_python, here.handle, here.reduce = True, None, _reduce_operation(args, kwargs)
        try:
            work = start(self, *args, **kwargs)
        finally:
            handle, here.from_python, here.handle, here.reduce = here.handle, False, None, None
        if work is not None and handle is not None:
            works[work] = handle
        return work

    return recorded


def _reduce_operation(args: tuple, kwargs: dict) -> str | None:
    """The reduce operation among the arguments of a call, such as "SUM"; None if there is none."""
    for value in (*args, *kwargs.values()):
        operation = value if isinstance(value, dist.ReduceOp) else getattr(value, "reduceOp", None)
        if operation is not None:
            return getattr(operation, "op", operation).name
    return None


def is_blocking_message(frame: FrameType | None) -> bool:
    """Whether the caller is ``dist.send`` or ``dist.recv``, which the dispatcher cannot tell from isend and irecv."""
    while frame is not None and not is_own(frame.f_code.co_filename):
        if frame.f_code in _blocking_messages():
            return True
        frame = frame.f_back
    return False


@functools.lru_cache(maxsize=1)
def _blocking_messages() -> tuple[CodeType, ...]:
    return tuple(inspect.unwrap(getattr(distributed_c10d, name)).__code__ for name in ("send", "recv"))


def wrap_thread_errors(watch: Watch) -> None:
    """Record uncaught exceptions in threads: the rank continues without the thread, and may be waiting for it."""
    report = threading.excepthook

    @functools.wraps(report)
    def recorded(ended: Any, /) -> None:
        if watch.on and ended.exc_value is not None and ended.exc_type is not SystemExit:
            name = ended.thread.name if ended.thread else "?"
            place = exception_place(ended.exc_value)
            watch.recorder.mark("ended", "thread_error", thread=name, error=describe(ended.exc_value), place=place)
        report(ended)

    threading.excepthook = recorded


def wrap_sleep(watch: Watch, script: str) -> None:
    """Patch ``time.sleep`` to record sleeps called from the script and from user code in its folder."""
    script = os.path.realpath(script)
    folder = os.path.join(os.path.dirname(script), "")
    sleep = time.sleep

    @functools.lru_cache(maxsize=10_000)
    def is_experiment(filename: str) -> bool:
        real = os.path.realpath(filename)
        return real == script or (real.startswith(folder) and is_own(filename))

    @functools.wraps(sleep)
    def recorded(seconds: float, /) -> None:
        frame = sys._getframe().f_back
        if not watch.on or frame is None:  # None: called by Python itself, as at exit
            return sleep(seconds)
        code = frame.f_code
        if not is_experiment(code.co_filename):
            return sleep(seconds)
        site = callsite(frame)
        with watch.recorder.span("sleep", "sleep", place=site.place, facts=watch.facts(site, "sleep")):
            return sleep(seconds)

    time.sleep = recorded
    for module in list(sys.modules.values()):  # under torchrun, the script and its modules are already imported
        names = [name for name, value in list(getattr(module, "__dict__", {}).items()) if value is sleep]
        if names and is_experiment(getattr(module, "__file__", None) or ""):
            for name in names:
                setattr(module, name, recorded)
