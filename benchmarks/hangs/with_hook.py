"""Run a program as one rank, with what PyTorch's own means need switched on.

    with_hook.py FOLDER PROGRAM

Into FOLDER: its output (``log_0``), its process id (``pid_0``), every second the stacks of all threads (``stacks_0``),
and the flight recorder's dump (``fr_0``), at exit or when a file ``dump`` is there.  Variables: HANGS_TIMEOUT, seconds,
for process groups that are made without a timeout; HANGS_MONITORED=1 makes each barrier of the default group a
monitored one.
"""

import atexit
import contextlib
import faulthandler
import os
import pickle
import runpy
import sys
import threading
import types
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d
from torch.distributed import distributed_c10d

EVERY = 1.0


def shorten_timeouts(seconds: float) -> None:
    """Make this the timeout of process groups for which the program gives none."""
    distributed_c10d.default_pg_timeout = timedelta(seconds=seconds)


def monitor_barriers(seconds: float) -> None:
    """Replace ``dist.barrier`` where ``monitored_barrier`` can stand in for it."""
    plain = dist.barrier

    def barrier(group=None, async_op=False, **options):
        if group is not None or async_op:
            return plain(group, async_op, **options)
        return dist.monitored_barrier(timeout=timedelta(seconds=seconds), wait_all_ranks=True)

    dist.barrier = distributed_c10d.barrier = barrier


def dump_flight_recorder(path: Path) -> None:
    """Write what this rank has recorded, with its groups named as its entries name them.

    The dump of a gloo group says "" where its entries say "0", and torchfrtrace does not find the group then.
    """
    with _without_inductor():
        dump = pickle.loads(_distributed_c10d._dump_fr_trace())
    world = distributed_c10d._world
    dump["pg_config"] = {}
    for group, name in [*world.pg_names.items()]:
        description = (
            "default_pg" if group is dist.group.WORLD else "undefined"
        )  # group_desc would import much of torch
        members = str([*world.pg_group_ranks[group]])
        dump["pg_config"][str(name)] = {"name": str(name), "desc": description, "ranks": members}
    _replace(path, lambda fresh: fresh.write_bytes(pickle.dumps(dump)))


@contextlib.contextmanager
def _without_inductor():
    """Spare the import of ``torch._inductor``, which takes seconds, and which the dump asks for names of frames."""
    if "torch._inductor" in sys.modules:
        yield
        return
    torch._inductor = types.SimpleNamespace()
    try:
        yield
    finally:
        del torch._inductor


def dump_stacks(path: Path) -> None:
    """Write the stacks of all threads."""

    def write(fresh: Path) -> None:
        with fresh.open("w") as file:
            faulthandler.dump_traceback(file)

    _replace(path, write)


def _replace(path: Path, write) -> None:
    fresh = path.with_name(f".{path.name}-{threading.get_ident()}")  # at exit, two threads write
    write(fresh)
    fresh.replace(path)


def keep_dumping(folder: Path, rank: str) -> None:
    """Dump from a thread until the process ends: what is blocked in a collective runs no signal handler."""
    wait = threading.Event().wait
    while True:
        wait(EVERY)
        dump_stacks(folder / f"stacks_{rank}")
        if (folder / "dump").exists() and dist.is_initialized():
            dump_flight_recorder(folder / f"fr_{rank}")


def main(folder: Path, program: str) -> None:
    """Be one rank."""
    rank = os.environ["RANK"]
    log = os.open(folder / f"log_{rank}", os.O_WRONLY | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    (folder / f"pid_{rank}").write_text(str(os.getpid()))
    seconds = float(os.environ.get("HANGS_TIMEOUT", "0"))
    if seconds:
        shorten_timeouts(seconds)
    if os.environ.get("HANGS_MONITORED"):
        monitor_barriers(seconds)
    atexit.register(lambda: dist.is_initialized() and dump_flight_recorder(folder / f"fr_{rank}"))
    threading.Thread(target=keep_dumping, args=(folder, rank), daemon=True, name="hook").start()
    sys.argv = [program]
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
