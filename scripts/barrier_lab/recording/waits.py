"""Wrap what the dispatcher does not show: waits for a handle, which work is a message's, and sleeps."""

import functools
import inspect
import os
import sys
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d

from barrier_lab.recording.callsite import caller, is_own
from barrier_lab.recording.recorder import describe
from barrier_lab.recording.watch import Watch


def wrap_work(watch: Watch) -> Callable[[], None]:
    """Wrap ``Work.wait`` and what gives Python the work of a message.  Returns what undoes it."""
    wrappers = {
        (dist.Work, "wait"): _waiting,
        (torch._C.Future, "wait"): _waiting,
        (dist.ProcessGroup, "send"): _sending,
        (dist.ProcessGroup, "recv"): _sending,
        (dist.ProcessGroup, "recv_anysource"): _sending,
    }
    plain = {place: getattr(*place) for place in wrappers}
    for place, wrapper in wrappers.items():
        setattr(*place, wrapper(watch, plain[place]))

    def undo() -> None:
        for place, function in plain.items():
            setattr(*place, function)

    return undo


def _waiting(watch: Watch, wait: Callable) -> Callable:
    recorder, here = watch.recorder, watch.here

    @functools.wraps(wait)
    def recorded(self: Any, *args: Any, **kwargs: Any) -> Any:
        blocking = here.blocking
        if blocking is not None and blocking[0] is self:
            here.blocking = None  # this wait is the blocking call's own, and ends it
            _, name, cat, op = blocking
        elif watch.on:
            name = cat = "wait"
            op = recorder.begin(name, cat, place=caller(sys._getframe(1)))
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
            if watch.messages:
                _end_message(watch, self, error)

    return recorded


def _end_message(watch: Watch, work: Any, error: str | None) -> None:
    """A message in flight has no future on gloo: it ends when it has been waited for."""
    message = watch.messages.pop(work, None)
    if message is not None:
        watch.recorder.end(message[0], "p2p", message[1], error=error, flight=True)


def _sending(watch: Watch, send: Callable) -> Callable:
    here, messages = watch.here, watch.messages

    @functools.wraps(send)
    def recorded(self: dist.ProcessGroup, *args: Any, **kwargs: Any) -> Any:
        work = send(self, *args, **kwargs)
        message, here.message = here.message, None
        if work is not None and message is not None:
            messages[work] = message
        return work

    return recorded


def is_blocking_message(frame: FrameType | None) -> bool:
    """Whether ``dist.send`` or ``dist.recv`` is calling; to the dispatcher they look like isend and irecv."""
    while frame is not None and not is_own(frame.f_code.co_filename):
        if frame.f_code in _blocking_messages():
            return True
        frame = frame.f_back
    return False


@functools.lru_cache(maxsize=1)
def _blocking_messages() -> tuple[CodeType, ...]:
    return tuple(inspect.unwrap(getattr(distributed_c10d, name)).__code__ for name in ("send", "recv"))


def wrap_sleep(watch: Watch, script: str) -> None:
    """Replace ``time.sleep`` by one that records the sleeps of the script and of the files in its folder."""
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
        if not watch.on or frame is None:  # None: Python itself calls, as at exit
            return sleep(seconds)
        code = frame.f_code
        if not is_experiment(code.co_filename):
            return sleep(seconds)
        with watch.recorder.span("sleep", "sleep", place=(code.co_filename, frame.f_lineno, code.co_name)):
            return sleep(seconds)

    time.sleep = recorded
