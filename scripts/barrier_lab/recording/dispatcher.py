"""See each collective and message once, at torch's dispatcher: below Python, functional, compiled and C++ callers."""

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from barrier_lab.recording.callsite import caller
from barrier_lab.recording.recorder import describe
from barrier_lab.recording.waits import is_blocking_message
from barrier_lab.recording.watch import Watch

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
_KEY = "BackendSelect"


def hook_all(watch: Watch) -> list[torch.library.Library]:
    """Put a hook on every operator.  They stay as long as the libraries returned."""
    key = getattr(torch._C.DispatchKey, _KEY)
    below = torch._C._dispatch_keyset_full_after(key)
    library = torch.library.Library("c10d", "IMPL")
    for name, operator in _operators():
        library.impl(name, _hook(watch, operator, name, below), _KEY, with_keyset=True)
    functional = torch.library.Library("_c10d_functional", "IMPL")
    waiting = torch.ops._c10d_functional.wait_tensor.default
    functional.impl("wait_tensor", _wait_hook(watch, waiting, below), _KEY, with_keyset=True)
    _note_the_backend(watch)
    return [library, functional]


def _note_the_backend(watch: Watch) -> None:
    """Have ``init_process_group`` record the backend that a script chose: it may call no collective that tells."""
    original = dist.init_process_group

    @functools.wraps(original)
    def init_process_group(*args: Any, **kwargs: Any) -> None:
        original(*args, **kwargs)
        if watch.on:
            watch.group(dist.group.WORLD)

    dist.init_process_group = init_process_group


def _operators() -> list[tuple[str, Any]]:
    """The operators that act on a process group.  ``RuntimeError`` if barrier is not among them."""
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace == "c10d" and any(argument.name == "process_group" for argument in schema.arguments):
            found[name] = getattr(torch.ops.c10d, name).default
    if "barrier" not in found:
        raise RuntimeError("no operator c10d::barrier")
    return sorted(found.items())


def _hook(watch: Watch, operator: Any, name: str, below: Any) -> Callable:
    """What runs in place of ``operator``: it records, and calls the operator itself."""
    names = [argument.name for argument in operator._schema.arguments]
    group_at = names.index("process_group")
    async_at = names.index("async_op") if "async_op" in names else len(names)
    waits_itself = name == "monitored_barrier_"  # it returns no work
    label = _PYTHON_NAMES.get(name, name.strip("_"))
    cat = "p2p" if label in _MESSAGES else "collective"
    recorder = watch.recorder
    meta = torch._C.DispatchKey.Meta

    def hook(keys: Any, *args: Any, **kwargs: Any) -> Any:
        if not watch.on or keys.has(meta):  # meta: traced, not called
            return operator.redispatch(keys & below, *args, **kwargs)
        frame = sys._getframe(1)
        group = watch.group(dist.ProcessGroup.unbox(args[group_at]))
        if cat == "p2p":
            seq, sync = None, is_blocking_message(frame)
            shown = label if sync else "i" + label
        else:
            group.count = seq = group.count + 1
            # Trailing arguments that equal their default are left out, and the default is True.
            sync, shown = waits_itself or (len(args) > async_at and args[async_at] is False), label
        op = recorder.begin(shown, cat, group=group.name, seq=seq, place=caller(frame), flight=not sync)
        try:
            result = operator.redispatch(keys & below, *args, **kwargs)
        except BaseException as error:
            recorder.end(shown, cat, op, error=describe(error), flight=not sync)
            raise
        _follow(watch, result, shown, cat, op, sync)
        return result

    return hook


def _follow(watch: Watch, result: Any, name: str, cat: str, op: int, sync: bool) -> None:
    """See to it that the end of ``op`` is recorded, whenever it comes."""
    boxed = result[-1] if isinstance(result, tuple | list) else result
    work = None if boxed is None else dist.Work.unbox(boxed)
    if work is None:  # it is over: C++ has waited
        watch.recorder.end(name, cat, op, flight=not sync)
    elif sync:
        watch.here.blocking = work, name, cat, op
    elif cat == "p2p":
        watch.here.message = name, op
    else:
        # The callback must not hold the work: a handle that the experiment drops has to go.
        done = functools.partial(_done, watch, name, cat, op)
        watch.in_flight.add(done)
        work.get_future().add_done_callback(done)


def _done(watch: Watch, name: str, cat: str, op: int, future: Any) -> None:
    """Record the end of what was in flight; runs on a thread of the backend's."""
    error = None
    try:
        future.value()
    except Exception as raised:
        error = describe(raised)
    watch.recorder.end(name, cat, op, error=error, flight=True)


def _wait_hook(watch: Watch, operator: Any, below: Any) -> Callable:
    """``wait_tensor``: how functional collectives wait, in C++."""

    def hook(keys: Any, tensor: torch.Tensor) -> torch.Tensor:
        if not watch.on or tensor.is_meta:
            return operator.redispatch(keys & below, tensor)
        with watch.recorder.span("wait", "wait", place=caller(sys._getframe(1))):
            return operator.redispatch(keys & below, tensor)

    return hook
