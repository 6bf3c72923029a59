"""What the hooks of one rank share."""

import threading
import weakref
from dataclasses import dataclass, field

import torch.distributed as dist

from barrier_lab.recording.recorder import Recorder


class Group:
    """What is known of a process group: the name to show, and how many collectives this rank has called on it."""

    def __init__(self, group: dist.ProcessGroup) -> None:
        self.name = "default" if group is dist.group.WORLD else group.group_name
        self.count = 0


class Here(threading.local):
    """What a thread is in the middle of."""

    blocking: tuple[dist.Work, str, str, int] | None = None  # work, name, category and number of a blocking call
    message: tuple[str, int] | None = None  # the message whose work is on its way to Python


@dataclass
class Watch:
    """The recorder and the state between hooks.  Nothing in it keeps a group or a work alive."""

    recorder: Recorder
    on: bool = False
    here: Here = field(default_factory=Here)
    groups: weakref.WeakKeyDictionary = field(default_factory=weakref.WeakKeyDictionary)  # ProcessGroup -> Group
    messages: weakref.WeakKeyDictionary = field(default_factory=weakref.WeakKeyDictionary)  # Work -> (name, op)
    in_flight: weakref.WeakSet = field(default_factory=weakref.WeakSet)  # callbacks that C++ still holds

    def group(self, group: dist.ProcessGroup) -> Group:
        """The record of a group: a new one for each new group, also for one made again under an old name."""
        known = self.groups.get(group)
        if known is None:
            known = self.groups[group] = Group(group)
            if known.name == "default":
                self.recorder.mark("backend", "meta", backend=dist.get_backend(group))
        return known
