"""A worker that ends, or does not end, in every way that the runner must survive."""

import ctypes
import os
import signal
import subprocess
import sys
import time

import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, how: str = "absent") -> None:
    dist.barrier()
    if rank == 0:
        dist.barrier()
    FATES[how]()


def absent() -> None:
    time.sleep(1000)


def returns() -> None:
    pass


def raises() -> None:
    raise RuntimeError("a mistake in the experiment")


def sys_exit() -> None:
    sys.exit(3)


def os_exit() -> None:
    os._exit(3)


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def crashes_in_c() -> None:
    ctypes.string_at(0)


def spins() -> None:
    while True:
        pass


def holds_the_interpreter_lock() -> None:
    ctypes.PyDLL(None).sleep(1000)


def ignores_signals() -> None:
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    time.sleep(1000)


def starts_a_child_and_stays() -> None:
    subprocess.Popen(["sleep", "1000"])
    time.sleep(1000)


def starts_a_child_and_returns() -> None:
    subprocess.Popen(["sleep", "1000"])


def prints_without_end() -> None:
    while True:
        print("x" * 100)


def prints_one_endless_line() -> None:
    while True:
        os.write(1, b"x" * 100)


FATES = {name: fate for name, fate in list(globals().items()) if callable(fate) and name not in ("worker", "main")}

if __name__ == "__main__":
    main(worker)
