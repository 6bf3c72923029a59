"""In a rank of an arbitrary program: record from ``init_process_group`` on, and dump stacks when it stalls."""

import functools
import inspect
import os
import platform
import socket
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from barrier_lab.run_directory import SCHEMA, stack_of, trace_of
from barrier_lab.tracing import last_words, stall

TRACE, STALL, ZERO = "BARRIER_LAB_TRACE", "BARRIER_LAB_STALL", "BARRIER_LAB_ZERO"
KEEP = "BARRIER_LAB_TRACE_MB"


def watch(distributed: ModuleType) -> None:
    """Start recording at the first call of ``init_process_group``."""
    from torch.distributed import distributed_c10d

    original = distributed.init_process_group

    @functools.wraps(original)
    def init_process_group(*args: Any, **kwargs: Any) -> Any:
        for module in (distributed, distributed_c10d):
            module.init_process_group = original
        try:
            _begin(original, args, kwargs)
        except Exception as error:
            sys.stderr.write(f"barrier_lab: this process is not recorded: {type(error).__name__}: {error}\n")
        return distributed_c10d.init_process_group(*args, **kwargs)  # wrapped again, by the recorder

    for module in (distributed, distributed_c10d):
        module.init_process_group = init_process_group


def _begin(init: Any, args: tuple, kwargs: dict) -> None:
    from barrier_lab.recording import hooks
    from barrier_lab.recording.recorder import open_trace

    given = inspect.signature(init).bind_partial(*args, **kwargs).arguments
    rank = _number(given.get("rank"), "RANK")
    if rank is None:
        raise RuntimeError("its rank is not known before its group is made: set RANK, or give rank=")
    directory = _directory()
    megabytes = float(os.environ.get(KEEP, "64"))
    recorder = open_trace(trace_of(directory, rank), rank, limit=int(megabytes * 1e6))
    script = Path(sys.argv[0] or "program").absolute()
    recorder.mark("rank", "meta", **_about(rank, _number(given.get("world_size"), "WORLD_SIZE"), script))
    recorder.mark("start", "meta", at=_number(None, ZERO) or time.monotonic_ns())
    hooks.install(recorder, script)
    hooks.start()
    last_words.watch(recorder, script)
    stall.watch(recorder, stack_of(directory, rank), _stall())


def _stall() -> float:
    """Seconds without progress after which this rank dumps its stacks."""
    return float(os.environ.get(STALL, "10"))


def _directory() -> Path:
    """The run directory of this attempt, created if needed."""
    directory = Path(os.environ[TRACE])
    if restarts := _number(None, "TORCHELASTIC_RESTART_COUNT"):
        directory /= f"restart-{restarts}"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _about(rank: int, world_size: int | None, script: Path) -> dict[str, object]:
    import torch

    return {
        "schema": SCHEMA,
        "rank": rank,
        "experiment": script.stem,
        "script": str(script),
        "parameters": {},
        "world_size": world_size,
        "local_world_size": _number(None, "LOCAL_WORLD_SIZE") or world_size,
        "backend_reason": "the program chose it",
        "launcher": "trace",
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "host": socket.gethostname(),
        "os_pid": os.getpid(),
        "stall": _stall(),
    }


def _number(given: object, variable: str) -> int | None:
    """``given`` if it is a non-negative int, else the value of an environment variable, else None."""
    if isinstance(given, int) and given >= 0:
        return given
    text = os.environ.get(variable, "")
    return int(text) if text.isdigit() else None
