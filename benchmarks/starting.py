"""What the runner costs: against bare ``torch.multiprocessing.spawn``, and from a warm forkserver against spawn.

Runs are interleaved and medians compared, since the machine's load changes from minute to minute.
"""

import importlib.util
import os
import socket
import statistics
import sys
import time
from pathlib import Path

import torch.distributed as dist
import torch.multiprocessing as mp

from barrier_lab import run

SCRIPT = Path(__file__).parent.parent / "scripts" / "slowest_rank.py"
ROUNDS = 5


def bare_rank(rank: int, world_size: int, port: int, delay: float) -> None:
    """One rank of the same worker, as a script without the runner would start it."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - the table shall stand alone
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    spec = importlib.util.spec_from_file_location("slowest_rank", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.worker(rank, world_size, delay=delay)
    dist.destroy_process_group()


def bare(world_size: int, delay: float) -> float:
    """Wall time of the bare program, in seconds."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.monotonic()
    mp.spawn(bare_rank, args=(world_size, port, delay), nprocs=world_size)
    return time.monotonic() - began


def ours(world_size: int, delay: float, method: str) -> tuple[float, float]:
    """Wall time, and what of it was not the experiment's own time, in seconds."""
    began = time.monotonic()
    done = run("slowest_rank", world_size=world_size, delay=delay, start_method=method)
    wall = time.monotonic() - began
    assert done.outcome == "completed", done.verdict
    return wall, wall - max(rank.ended for rank in done.ranks)


def against_bare() -> None:
    """``run("slowest_rank")``, at its full five seconds, against bare ``mp.spawn``."""
    pairs = [(ours(2, 5.0, "spawn")[0], bare(2, 5.0)) for _ in range(ROUNDS)]
    mine, plain = (statistics.median(column) for column in zip(*pairs, strict=True))
    report("run('slowest_rank') / bare mp.spawn", mine / plain, f"{mine:.2f} s / {plain:.2f} s; at most 1.05")


def rerun(world_size: int, most: float, factor: float) -> None:
    """Overhead of a re-run from a warm forkserver, against that of spawn."""
    ours(world_size, 0.2, "forkserver")
    pairs = [(ours(world_size, 0.2, "forkserver")[1], ours(world_size, 0.2, "spawn")[1]) for _ in range(ROUNDS)]
    warm, cold = (statistics.median(column) for column in zip(*pairs, strict=True))
    name = f"re-run of {world_size} ranks"
    report(f"{name}, overhead of forkserver in s", warm, f"at most {most}")
    report(f"{name}, overhead of spawn / of forkserver", cold / warm, f"{cold:.2f} s / {warm:.2f} s; at least {factor}")


def report(name: str, value: float, remark: str) -> None:
    """One line of the table."""
    print(f"{name:<52}{value:7.3f}   ({remark})")


def main() -> None:
    """Print the ratios."""
    against_bare()
    rerun(2, 0.5, 5)
    rerun(8, 1.0, 10)


if __name__ == "__main__":
    main()
