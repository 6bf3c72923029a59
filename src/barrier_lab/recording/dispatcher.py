"""Hook collectives and messages at torch's dispatcher, which Python, functional, compiled and C++ callers share."""

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from barrier_lab.recording.callsite import callsite, exception_place
from barrier_lab.recording.recorder import Facts, describe
from barrier_lab.recording.waits import is_blocking_message
from barrier_lab.recording.watch import Group, Watch, shape

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
# Index of the argument whose tensors must agree in dtype and size on all ranks; in other operators they may differ.
_TENSORS = {
    "allreduce_": 0,
    "allreduce_coalesced_": 0,
    "allgather_": 1,
    "_allgather_base_": 1,
    "broadcast_": 0,
    "reduce_": 0,
    "gather_": 1,
    "scatter_": 0,
    "reduce_scatter_": 0,
    "_reduce_scatter_base_": 0,
    "send": 0,
    "recv_": 0,
    "recv_any_source_": 0,
}
_KEY = "BackendSelect"


def hook_all(watch: Watch) -> list[torch.library.Library]:
    """Install a hook on every operator.  The hooks live as long as the returned libraries."""
    key = getattr(torch._C.DispatchKey, _KEY)
    below = torch._C._dispatch_keyset_full_after(key)
    library = torch.library.Library("c10d", "IMPL")
    for name, operator in _operators():
        library.impl(name, _hook(watch, operator, name, below), _KEY, with_keyset=True)
    functional = torch.library.Library("_c10d_functional", "IMPL")
    for name, operator in _functional_operators():
        hook = _wait_hook if name == "wait_tensor" else _functional_hook
        functional.impl(name, hook(watch, operator, below), _KEY, with_keyset=True)
    return [library, functional]


def _operators() -> list[tuple[str, Any]]:
    """The operators that take a process group.  Raises ``RuntimeError`` if barrier is not among them."""
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace == "c10d" and any(argument.name == "process_group" for argument in schema.arguments):
            found[name] = getattr(torch.ops.c10d, name).default
    if "barrier" not in found:
        raise RuntimeError("no operator c10d::barrier")
    return sorted(found.items())


def _functional_operators() -> list[tuple[str, Any]]:
    """``wait_tensor``, and the functional collectives, which return tensors to wait for."""
    names = {schema.name.partition("::")[2] for schema in torch._C._jit_get_all_schemas() if _is_functional(schema)}
    return [(name, getattr(torch.ops._c10d_functional, name).default) for name in sorted(names)]


def _is_functional(schema: Any) -> bool:
    starts = any(argument.name == "group_name" for argument in schema.arguments)
    return schema.name.startswith("_c10d_functional::") and (starts or schema.name.endswith("::wait_tensor"))


def _hook(watch: Watch, operator: Any, name: str, below: Any) -> Callable:
    """A replacement for ``operator`` that records the call and redispatches to the operator."""
    names = [argument.name for argument in operator._schema.arguments]
    group_at = names.index("process_group")
    async_at = names.index("async_op") if "async_op" in names else len(names)
    tensors_at = _TENSORS.get(name)
    waits_itself = name == "monitored_barrier_"  # it returns no Work
    label = _PYTHON_NAMES.get(name, name.strip("_"))
    cat = "p2p" if label in _MESSAGES else "collective"
    further = _message_facts(names) if cat == "p2p" else _SPLITS.get(name) or _root_facts(names)
    recorder, here = watch.recorder, watch.here
    meta = torch._C.DispatchKey.Meta
    shapes: dict[tuple, tuple] = {}

    def hook(keys: Any, *args: Any, **kwargs: Any) -> Any:
        if not watch.on or keys.has(meta):  # meta: being traced, not executed
            return operator.redispatch(keys & below, *args, **kwargs)
        frame = sys._getframe(1)
        site = callsite(frame)
        group = watch.group(dist.ProcessGroup.unbox(args[group_at]))
        if cat == "p2p":
            seq, sync = None, is_blocking_message(frame)
            shown = label if sync else "i" + label
        else:
            group.count = seq = group.count + 1
            # Trailing arguments equal to their default are omitted, and the default is True.
            sync, shown = waits_itself or (len(args) > async_at and args[async_at] is False), label
        facts = watch.facts(site, shown)
        if tensors_at is not None:
            facts += shape(args[tensors_at], shapes)
        facts += further(group, args)
        if here.reduce is not None:
            facts += (("reduce", here.reduce),)
        if here.from_python and not sync:
            facts += (("handle", True),)
        facts += pending_exception()
        op = recorder.begin(shown, cat, group=group.name, seq=seq, place=site.place, flight=not sync, facts=facts)
        try:
            result = operator.redispatch(keys & below, *args, **kwargs)
        except BaseException as error:
            recorder.end(shown, cat, op, error=describe(error), flight=not sync)
            raise
        _follow(watch, result, shown, cat, op, sync)
        return result

    return hook


def pending_exception() -> Facts:
    """Facts about the exception being handled when a call begins: in ``except``, ``finally``, …"""
    error = sys.exception()
    if error is None:
        return ()
    place = exception_place(error)
    return (("handling", describe(error)), *((("raised_at", place),) if place else ()))


def _message_facts(names: list[str]) -> Callable[[Group, tuple], Facts]:
    """Peer and tag of a message.  The peer is a rank of the default group, or None for any."""
    peer_at = next((names.index(name) for name in ("dst", "src") if name in names), None)
    tag_at = names.index("tag")

    def facts(group: Group, args: tuple) -> Facts:
        peer = None if peer_at is None else group.global_rank(args[peer_at])
        return (("peer", peer), ("tag", args[tag_at]))

    return facts


def _root_facts(names: list[str]) -> Callable[[Group, tuple], Facts]:
    """Source or destination rank of a collective, if it has one."""
    if "root_rank" not in names:
        return lambda group, args: ()
    root_at = names.index("root_rank")
    return lambda group, args: (("root", group.global_rank(args[root_at])),)


def _lists(group: Group, args: tuple) -> Facts:
    """The number of elements that ``all_to_all`` sends to each rank of the group and receives from each."""
    takes, sends = ([tensor.numel() for tensor in tensors] for tensors in args[:2])
    return (("sends", tuple(sends)), ("takes", tuple(takes)))


def _splits(group: Group, args: tuple) -> Facts:
    """The number of rows that ``all_to_all_single`` sends to each rank of the group and receives from each."""
    counts = []
    for tensor, split in ((args[1], args[4]), (args[0], args[3])):
        size = max(len(group.ranks), 1)
        rows = tensor.shape[0] if tensor.dim() else 1
        counts.append(tuple(split) if split else (rows // size,) * size)
    return (("sends", counts[0]), ("takes", counts[1]))


_SPLITS = {"alltoall_": _lists, "alltoall_base_": _splits}


def _follow(watch: Watch, result: Any, name: str, cat: str, op: int, sync: bool) -> None:
    """Arrange for the end of ``op`` to be recorded."""
    boxed = result[-1] if isinstance(result, tuple | list) else result
    work = None if boxed is None else dist.Work.unbox(boxed)
    if work is None:  # already complete: C++ has waited
        watch.recorder.end(name, cat, op, flight=not sync)
        return
    if sync:
        watch.here.blocking = work, name, cat, op
        return
    watch.here.handle = name, cat, op
    if cat != "p2p":
        # The callback must not keep the Work alive: a handle that the experiment drops has to be destroyed.
        done = functools.partial(_done, watch, name, cat, op)
        watch.in_flight.add(done)
        work.get_future().add_done_callback(done)


def _done(watch: Watch, name: str, cat: str, op: int, future: Any) -> None:
    """Record the end of a call in flight.  Runs on a backend thread."""
    error = None
    try:
        future.value()
    except Exception as raised:
        error = describe(raised)
    watch.recorder.end(name, cat, op, error=error, flight=True)


def _functional_hook(watch: Watch, operator: Any, below: Any) -> Callable:
    """Hook for a functional collective: remember which call completes its result."""
    here, names = watch.here, [argument.name for argument in operator._schema.arguments]
    reduce_at = names.index("reduce_op") if "reduce_op" in names else None

    def hook(keys: Any, *args: Any, **kwargs: Any) -> Any:
        if not watch.on:
            return operator.redispatch(keys & below, *args, **kwargs)
        here.handle = None
        here.reduce = None if reduce_at is None else args[reduce_at].upper()
        try:
            result = operator.redispatch(keys & below, *args, **kwargs)
        finally:
            here.reduce = None
        if here.handle is not None:
            _remember_results(watch, result, here.handle[2])
        return result

    return hook


def _remember_results(watch: Watch, result: Any, op: int) -> None:
    for tensor in result if isinstance(result, list | tuple) else [result]:
        if not tensor.is_meta:
            if len(watch.functional) > 10_000:  # results that were never waited for
                watch.functional.clear()
            watch.functional[tensor.untyped_storage()._cdata] = op


def _wait_hook(watch: Watch, operator: Any, below: Any) -> Callable:
    """Hook for ``wait_tensor``, with which functional collectives wait in C++."""

    def hook(keys: Any, tensor: torch.Tensor) -> torch.Tensor:
        if not watch.on or tensor.is_meta:
            return operator.redispatch(keys & below, tensor)
        site = callsite(sys._getframe(1))
        of = watch.functional.pop(tensor.untyped_storage()._cdata, None)
        facts = watch.facts(site, "wait_tensor")
        with watch.recorder.span("wait", "wait", place=site.place, facts=facts, of=of):
            return operator.redispatch(keys & below, tensor)

    return hook
