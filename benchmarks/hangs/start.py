"""Start the ranks of a program as torchrun does, from one process that has imported torch.

    python benchmarks/hangs/start.py RANKS PROGRAM [ARGUMENT …]

The ranks are forked, so torch is imported once and not by each of them.  As under torchrun, this process holds the
store, and when a rank fails the others get SIGTERM.  Exits with the code of the rank that failed, or 0.
"""

import os
import runpy
import signal
import sys
import time
from datetime import timedelta

import torch.distributed as dist

GRACE = 0.5  # seconds in which the others may say what they see of a rank that failed


def rank_main(rank: int, size: int, port: int, command: list[str]) -> None:
    """Be one rank: returns, raises or exits as the program does."""
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(size), LOCAL_WORLD_SIZE=str(size))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), TORCHELASTIC_USE_AGENT_STORE="True")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.argv = command
    runpy.run_path(command[0], run_name="__main__")


def main(size: int, command: list[str]) -> int | None:
    """Fork the ranks and wait for them.  Returns the exit code; in a rank, returns None."""
    reading, writing = os.pipe()
    pids = []
    for rank in range(size):
        pid = os.fork()
        if pid == 0:  # the port is known only when the store is there, which must not be forked
            os.close(writing)
            rank_main(rank, size, int(os.read(reading, 5)), command)
            return None
        pids.append(pid)
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(minutes=5))
    for _ in pids:
        os.write(writing, f"{store.port:5}".encode())
    return wait(pids)


def wait(pids: list[int]) -> int:
    """Wait for all ranks; end the others when one fails."""
    left, code = set(pids), 0
    while left:
        pid, status = os.wait()
        left.discard(pid)
        if status and not code:
            code = abs(os.waitstatus_to_exitcode(status))
            time.sleep(GRACE)
            for other in left:
                os.kill(other, signal.SIGTERM)
    return code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
