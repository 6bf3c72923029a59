"""What a script may do that must not disturb the recording, nor the recording it: one ``how`` each."""

import atexit
import ctypes
import faulthandler
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from time import sleep

import torch
import torch.distributed as dist

from barrier_lab import main


def worker(rank: int, world_size: int, *, how: str = "nothing") -> None:
    dist.barrier()
    FATES[how]()


def nothing() -> None:
    pass


def leaves_by_exit() -> None:
    sys.exit(0)


def leaves_by_exit_with_3() -> None:
    sys.exit(3)


def sleeps_by_name() -> None:
    sleep(0.2)


def waits_with_its_own_faulthandler() -> None:
    """Its own timer and signal write to its own file, and are then taken back, as is the handler of fatal errors."""
    with tempfile.TemporaryFile("w+") as file:
        faulthandler.register(signal.SIGUSR1, file=file)
        os.kill(os.getpid(), signal.SIGUSR1)
        faulthandler.unregister(signal.SIGUSR1)
        faulthandler.dump_traceback_later(0.1, file=file)
        time.sleep(0.5)
        faulthandler.cancel_dump_traceback_later()
        file.seek(0)
        print("own stacks:", file.read().count("waits_with_its_own_faulthandler"))
    faulthandler.disable()
    wait_for_ever()


def wait_for_ever() -> None:
    threading.Event().wait()


def is_not_ended_by_its_process() -> None:
    threading.Thread(target=wait_for_ever).start()


def is_held_at_exit() -> None:
    atexit.register(wait_for_ever)


def forks_a_child_that_stays() -> None:
    if os.fork() == 0:
        time.sleep(1000)
    subprocess.Popen(["sleep", "1000"])


def forks_a_child_and_stays() -> None:
    forks_a_child_that_stays()
    ctypes.PyDLL(None).sleep(1000)


def prints_much() -> None:
    for number in range(12):
        print(f"{number} " + "x" * 100_000)
    print("printed it all")
    dist.barrier()


@torch.no_grad()
def computes() -> None:
    print("gradients:", torch.is_grad_enabled())


FATES = {name: fate for name, fate in list(globals().items()) if callable(fate) and name not in ("worker", "main")}

if __name__ == "__main__":
    main(worker)
