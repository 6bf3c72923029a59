"""See each collective, message and sleep of this rank, once, and without changing what it does.

Collectives are seen at torch's dispatcher, below every way to start one: Python's functions, functional and compiled
collectives, and C++ (DDP).  There is one hook per ``torch.ops.c10d`` operator, at the key ``BackendSelect``; it
records, and calls on.  A call with ``async_op=False`` is recorded as one blocking interval, which ends when Python's
``Work.wait`` of the same work returns.  Anything else is in flight until the work's future is done.  Messages have no
future on gloo: theirs end with ``wait``.

These places are half private to torch, hence ``install`` returns whether they could be used.
"""

import functools
import inspect
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from .callsite import caller, is_own
from .recorder import Recorder, describe

_PYTHON_NAMES = {
    "allreduce_": "all_reduce",
    "allreduce_coalesced_": "all_reduce_coalesced",
    "allgather_": "all_gather",
    "_allgather_base_": "all_gather_into_tensor",
    "allgather_coalesced_": "all_gather_coalesced",
    "allgather_into_tensor_coalesced_": "all_gather_into_tensor_coalesced",
    "_reduce_scatter_base_": "reduce_scatter_tensor",
    "alltoall_": "all_to_all",
    "alltoall_base_": "all_to_all_single",
    "recv_any_source_": "recv",
}
_MESSAGES = ("send", "recv")


class _Group:
    """What is known of a process group: the name to show, and how many collectives this rank has called on it."""

    def __init__(self, group: dist.ProcessGroup) -> None:
        self.name = "default" if group is dist.group.WORLD else group.group_name
        self.count = 0


class _Here(threading.local):
    """What a thread is in the middle of."""

    blocking: tuple[dist.Work, str, str, int] | None = None  # a blocking call's work, until Python waits for it
    message: tuple[str, int] | None = None  # the message whose work is on its way to Python


_recorder: Recorder | None = None
_on = False
_here = _Here()
_groups: "weakref.WeakKeyDictionary[dist.ProcessGroup, _Group]" = weakref.WeakKeyDictionary()
_messages: "weakref.WeakKeyDictionary[dist.Work, tuple[str, int]]" = weakref.WeakKeyDictionary()
_kept: list = []  # a Library takes its hooks with it when it goes


def install(recorder: Recorder, script: str | Path) -> bool:
    """Put the hooks in, silent until ``start``; before the experiment's module is imported, since it may bind names.

    Where this torch has not what they need, one warning says so, and the experiment runs unrecorded.
    """
    global _recorder
    _recorder = recorder
    _watch_sleep(os.path.realpath(script))
    try:
        _watch_dispatcher()
        _watch_python()
    except Exception as error:  # whatever a changed private interface raises
        _unwatch_dispatcher()
        message = f"Collectives are not recorded: torch {torch.__version__} differs inside ({describe(error)})."
        sys.stderr.write(f"barrier_lab: {message}\n")
        recorder.mark("hooks", "meta", error=message)
        return False
    return True


def start() -> None:
    """Record from now on.  What was called before is not counted either."""
    global _on
    _on = True


def stop() -> None:
    """Record no new call from now on; those in flight may still end."""
    global _on
    _on = False


def _watch_dispatcher() -> None:
    library = torch.library.Library("c10d", "IMPL")
    _kept.append(library)
    key = torch._C.DispatchKey.BackendSelect
    below = torch._C._dispatch_keyset_full_after(key)
    for name, operator in _operators("c10d"):
        library.impl(name, _hook(operator, name, below), "BackendSelect", with_keyset=True)
    functional = torch.library.Library("_c10d_functional", "IMPL")
    _kept.append(functional)
    waiting = torch.ops._c10d_functional.wait_tensor.default
    functional.impl("wait_tensor", _wait_hook(waiting, below), "BackendSelect", with_keyset=True)


def _unwatch_dispatcher() -> None:
    while _kept:
        _kept.pop()._destroy()


def _operators(namespace: str) -> list[tuple[str, Any]]:
    """The operators that act on a process group.  ``RuntimeError`` if barrier is not among them."""
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        space, _, name = schema.name.partition("::")
        if space == namespace and any(argument.name == "process_group" for argument in schema.arguments):
            found[name] = getattr(getattr(torch.ops, namespace), name).default
    if "barrier" not in found:
        raise RuntimeError(f"no operator {namespace}::barrier")
    return sorted(found.items())


def _hook(operator: Any, name: str, below: Any) -> Callable:
    """What runs in place of ``operator``: it records, and calls the operator itself."""
    names = [argument.name for argument in operator._schema.arguments]
    group_at = names.index("process_group")
    async_at = names.index("async_op") if "async_op" in names else None
    blocks_itself = name == "monitored_barrier_"  # it returns no work
    label = _PYTHON_NAMES.get(name, name.strip("_"))
    message = label in _MESSAGES

    def hook(keys: Any, *args: Any, **kwargs: Any) -> Any:
        if not _on:
            return operator.redispatch(keys & below, *args, **kwargs)
        frame = sys._getframe(1)
        group = _group(dist.ProcessGroup.unbox(args[group_at]))
        if message:
            cat, seq, sync = "p2p", None, _calls_blocking(frame)
            shown = label if sync else "i" + label
        else:
            group.count += 1
            # Trailing arguments that equal their default are left out, and the default is True.
            cat, seq, shown = "collective", group.count, label
            sync = blocks_itself or (async_at is not None and len(args) > async_at and args[async_at] is False)
        op = _recorder.begin(shown, cat, group=group.name, seq=seq, place=caller(frame), flight=not sync)
        try:
            result = operator.redispatch(keys & below, *args, **kwargs)
        except BaseException as error:
            _recorder.end(shown, cat, op, error=describe(error), flight=not sync)
            raise
        _follow(result, shown, cat, op, sync)
        return result

    return hook


def _follow(result: Any, name: str, cat: str, op: int, sync: bool) -> None:
    """See to it that the end of ``op`` is recorded, whenever it comes."""
    boxed = result[-1] if isinstance(result, tuple | list) else result
    work = None if boxed is None else dist.Work.unbox(boxed)
    if work is None:  # it is over: C++ has waited
        _recorder.end(name, cat, op, flight=not sync)
    elif sync:
        _here.blocking = work, name, cat, op
    elif cat == "p2p":
        _here.message = name, op
    else:
        # The callback must not hold the work: a handle that the experiment drops has to go.
        work.get_future().add_done_callback(functools.partial(_done, name, cat, op))


def _done(name: str, cat: str, op: int, future: Any) -> None:
    """Record the end of what was in flight.  Runs on a thread of the backend's, maybe when Python is going away."""
    error = None
    try:
        future.value()
    except Exception as raised:
        error = describe(raised)
    try:
        _recorder.end(name, cat, op, error=error, flight=True)
    except Exception:
        return


def _group(group: dist.ProcessGroup) -> _Group:
    """The record of a group: a new one for each new group, also for one made again under an old name."""
    known = _groups.get(group)
    if known is None:
        known = _groups[group] = _Group(group)
    return known


def _watch_python() -> None:
    """Wrap what the dispatcher does not show: the waits, and which work belongs to a message."""
    dist.Work.wait = _waiting(dist.Work.wait)
    for name in ("send", "recv", "recv_anysource"):
        setattr(dist.ProcessGroup, name, _sending(getattr(dist.ProcessGroup, name)))


def _waiting(wait: Callable) -> Callable:
    @functools.wraps(wait)
    def recorded(self: dist.Work, *args: Any, **kwargs: Any) -> Any:
        blocking = _here.blocking
        if blocking is not None and blocking[0] is self:
            _here.blocking = None
            _, name, cat, op = blocking
        elif _on:
            name, cat = "wait", "wait"
            op = _recorder.begin(name, cat, place=caller(sys._getframe(1)))
        else:
            return wait(self, *args, **kwargs)
        error = None
        try:
            return wait(self, *args, **kwargs)
        except BaseException as raised:
            error = describe(raised)
            raise
        finally:
            _recorder.end(name, cat, op, error=error)
            _end_message(self, error)

    return recorded


def _end_message(work: dist.Work, error: str | None) -> None:
    """A message in flight ends when it has been waited for."""
    message = _messages.pop(work, None) if _messages else None
    if message is not None:
        _recorder.end(message[0], "p2p", message[1], error=error, flight=True)


def _sending(send: Callable) -> Callable:
    @functools.wraps(send)
    def recorded(self: dist.ProcessGroup, *args: Any, **kwargs: Any) -> Any:
        work = send(self, *args, **kwargs)
        message, _here.message = _here.message, None
        if work is not None and message is not None:
            _messages[work] = message
        return work

    return recorded


def _calls_blocking(frame: Any) -> bool:
    """Whether a message comes from ``dist.send`` or ``dist.recv``, which the dispatcher cannot tell from isend, irecv."""
    while frame is not None and not is_own(frame.f_code.co_filename):
        if frame.f_code in _blocking_messages():
            return True
        frame = frame.f_back
    return False


@functools.lru_cache(maxsize=1)
def _blocking_messages() -> tuple:
    return tuple(inspect.unwrap(getattr(c10d, name)).__code__ for name in ("send", "recv"))


def _wait_hook(operator: Any, below: Any) -> Callable:
    """``wait_tensor``: how functional collectives wait, in C++."""

    def hook(keys: Any, tensor: torch.Tensor) -> torch.Tensor:
        if not _on or tensor.is_meta:
            return operator.redispatch(keys & below, tensor)
        with _recorder.span("wait", "wait", place=caller(sys._getframe(1))):
            return operator.redispatch(keys & below, tensor)

    return hook


def _watch_sleep(script: str) -> None:
    """Replace ``time.sleep`` by one that records the sleeps of the script's own folder."""
    folder = os.path.join(os.path.dirname(script), "")
    sleep = time.sleep

    @functools.lru_cache(maxsize=10_000)
    def is_experiment(filename: str) -> bool:
        real = os.path.realpath(filename)
        return real == script or (real.startswith(folder) and is_own(filename))

    @functools.wraps(sleep)
    def recorded(seconds: float, /) -> None:
        frame = sys._getframe(1)
        code = frame.f_code
        if not _on or not is_experiment(code.co_filename):
            return sleep(seconds)
        with _recorder.span("sleep", "sleep", place=(code.co_filename, frame.f_lineno, code.co_name)):
            return sleep(seconds)

    time.sleep = recorded
