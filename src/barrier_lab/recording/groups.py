"""Record the creation of process groups, in which a rank waits for the other members at the store."""

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import torch.distributed as dist
from torch.distributed import distributed_c10d

from barrier_lab.recording.callsite import callsite
from barrier_lab.recording.dispatcher import pending_exception
from barrier_lab.recording.patching import replace
from barrier_lab.recording.recorder import Facts
from barrier_lab.recording.watch import Watch

NEW, INIT = "new_group", "init_process_group"


def wrap_groups(watch: Watch) -> Callable[[], None]:
    """Wrap ``init_process_group`` and the function behind all group creation.  Returns a function that undoes it."""
    wrapped = {
        (dist, INIT): _recorded(watch, INIT, dist.init_process_group, _world),
        (distributed_c10d, "_new_group_with_tag"): _recorded(
            watch, NEW, distributed_c10d._new_group_with_tag, _ranks_of_new_group
        ),
    }
    wrapped[distributed_c10d, INIT] = wrapped[dist, INIT]
    return replace(wrapped)


def _recorded(watch: Watch, name: str, make: Callable, facts_of: Callable[..., Facts]) -> Callable:
    """Wrap ``make`` to record it as the k-th call of its name on this rank."""

    @functools.wraps(make)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        if not watch.on:
            return make(*args, **kwargs)
        site = callsite(sys._getframe(1))
        own = facts_of(*args, **kwargs)
        facts = watch.facts(site, name) + own + pending_exception()
        # With local synchronization only the members call it, so calls are counted per list of members.
        series = f"{name} of {dict(own)['ranks']}" if kwargs.get("use_local_synchronization") else name
        watch.making[series] = seq = watch.making[series] + 1
        with watch.recorder.span(name, "group", group=series, seq=seq, place=site.place, facts=facts):
            result = make(*args, **kwargs)
        group = dist.group.WORLD if name == INIT else result
        if isinstance(group, dist.ProcessGroup):  # else this rank is not a member
            watch.group(group)
        return result

    return recorded


def _ranks_of_new_group(ranks: Any = None, *args: Any, **kwargs: Any) -> Facts:
    """The members of a new group.  A rank waits for them only if it is a member itself."""
    world = dist.get_world_size() if dist.is_initialized() else 0
    given = kwargs.get("ranks", ranks)
    return (("ranks", tuple(range(world)) if given is None else tuple(map(int, given))),)


def _world(*args: Any, **kwargs: Any) -> Facts:
    """The ranks that a script expects, and the backend that it chose."""
    given = dict(zip(("backend", "init_method", "timeout", "world_size"), args, strict=False)) | kwargs
    size = given.get("world_size", -1)
    if not isinstance(size, int) or size <= 0:
        size = _integer(os.environ.get("WORLD_SIZE"))
    return (("backend", str(given.get("backend") or "")), ("ranks", tuple(range(size))))


def _integer(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 0
