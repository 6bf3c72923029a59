"""State shared by the hooks of a rank."""

import threading
import weakref
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import torch.distributed as dist
from torch.distributed import distributed_c10d

from barrier_lab.recording.callsite import Callsite
from barrier_lab.recording.recorder import Facts, Recorder


class Group:
    """A process group: its name in the trace, its ranks, and the number of collectives called on it."""

    def __init__(self, group: dist.ProcessGroup, name: str) -> None:
        self.name = name
        members = distributed_c10d._world.pg_group_ranks.get(group) or {}
        self.ranks = sorted(members, key=members.__getitem__)  # sorted by rank in the group
        self.count = 0

    def global_rank(self, rank: int) -> int:
        """Convert a rank of this group to the rank in the default group."""
        return self.ranks[rank] if 0 <= rank < len(self.ranks) else rank


class Here(threading.local):
    """The call that a thread is currently making."""

    blocking: tuple[dist.Work, str, str, int] | None = None  # work, name, category and number of a blocking call
    handle: tuple[str, str, int] | None = None  # name, category and number of the call just started
    from_python: bool = False  # the current call was made through a method of ProcessGroup
    reduce: str | None = None  # its reduce operation


@dataclass
class Watch:
    """The recorder and the state shared by the hooks.  Does not keep any group or Work alive."""

    recorder: Recorder
    on: bool = False
    here: Here = field(default_factory=Here)
    groups: weakref.WeakKeyDictionary = field(default_factory=weakref.WeakKeyDictionary)  # ProcessGroup -> Group
    names: Counter = field(default_factory=Counter)  # number of groups that had each name
    making: Counter = field(default_factory=Counter)  # number of calls of each function that creates groups
    works: weakref.WeakKeyDictionary = field(default_factory=weakref.WeakKeyDictionary)  # Work or Future -> handle
    functional: dict[int, int] = field(default_factory=dict)  # storage of a functional result -> number of its call
    in_flight: weakref.WeakSet = field(default_factory=weakref.WeakSet)  # callbacks still held by C++
    paths: dict[tuple, int] = field(default_factory=dict)  # frames -> their number in the trace

    def group(self, group: dist.ProcessGroup) -> Group:
        """Get the record of a group.  A group created again under an old name gets a new record."""
        known = self.groups.get(group)
        if known is None:
            known = self.groups[group] = self._new_group(group)
        return known

    def _new_group(self, group: dist.ProcessGroup) -> Group:
        name = "default" if group is dist.group.WORLD else group.group_name
        self.names[name] += 1
        if self.names[name] > 1:
            name = f"{name}#{self.names[name]}"
        known = Group(group, name)
        if name == "default":
            self.recorder.mark("backend", "meta", backend=dist.get_backend(group))
        self.recorder.mark("group", "group", group=name, ranks=known.ranks)
        return known

    def facts(self, site: Callsite, label: str) -> Facts:
        """Facts about a call site in addition to its innermost line: the path of callers, and the library function."""
        facts = ()
        if len(site.frames) > 1:
            facts = (("path", self.path(site.frames)),)
        if site.via is not None and site.via != label:
            facts += (("via", site.via),)
        return facts

    def path(self, frames: tuple) -> int:
        """The number of these frames in the trace, which are recorded on first use."""
        number = self.paths.get(frames)
        if number is None:
            number = self.paths[frames] = len(self.paths) + 1
            self.recorder.mark("path", "path", path=number, frames=[list(place) for place in frames])
        return number


def shape(tensors: Any, known: dict[tuple, tuple]) -> tuple:
    """Facts about the tensors of a call: dtype and shape as text, and the number of elements.

    ``tensors``: a tensor or a list of tensors.  ``known``: cache by dtype and shape.
    """
    first = tensors
    if isinstance(tensors, list):
        if len(tensors) != 1:
            return _several(tensors)
        first = tensors[0]
    key = (first.dtype, first.shape)
    facts = known.get(key)
    if facts is None:
        if len(known) > 1000:
            known.clear()
        kind = str(first.dtype).removeprefix("torch.")
        facts = known[key] = (("tensor", f"{kind}[{', '.join(map(str, first.shape))}]"), ("numel", first.numel()))
    return facts


def _several(tensors: list) -> tuple:
    if not tensors:
        return ()
    kind = str(tensors[0].dtype).removeprefix("torch.")
    numel = sum(tensor.numel() for tensor in tensors)
    return (("tensor", f"{len(tensors)} × {kind}, {numel} elements"), ("numel", numel))
