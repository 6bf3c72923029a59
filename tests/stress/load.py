"""Other work on the machine: processes that only compute, and one that writes to the disk."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

from barrier_lab.rank import lifeline

COMPUTE = "while True: pass"
WRITE = """
import os, tempfile
block = os.urandom(1 << 20)
with tempfile.TemporaryFile() as file:
    while True:
        file.seek(0)
        for _ in range(64):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
"""


@contextlib.contextmanager
def busy_machine(computing: int, environment: dict[str, str]) -> Iterator[None]:
    """Keep ``computing`` processes and a writer at work as long as the block lasts; they die with this process."""
    programs = [COMPUTE] * computing + [WRITE] * (computing > 0)
    started = [start([sys.executable, "-c", program], environment) for program in programs]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def start(command: list[str], environment: dict[str, str], **options) -> subprocess.Popen:
    """Start a process that dies with this one.  Call it in the main thread: the kernel watches the thread."""
    return subprocess.Popen(
        command, env=os.environ | environment, stdin=subprocess.DEVNULL, preexec_fn=lifeline.die_with_parent, **options
    )
