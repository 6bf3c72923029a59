"""A separate program: wait for a rank to end, kill the rest of its process group, and remove a folder.

    python guard.py DESCRIPTOR GROUP [FOLDER]

``DESCRIPTOR`` is a pidfd of the rank; ``GROUP`` is its process group id, which must exist at startup.
"""

import fcntl
import os
import select
import shutil
import signal
import sys


def main(descriptor: int, group: int, folder: str = "") -> None:
    """Fork and guard in the grandchild: the rank's script may wait for all its children."""
    if os.fork():
        os._exit(0)
    # The kernel signals the group when the write end closes.  It refers to the group itself, while the group id may
    # have been reused by then.
    reading, writing = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(reading, fcntl.F_SETOWN, -group)
    fcntl.fcntl(reading, fcntl.F_SETFL, fcntl.fcntl(reading, fcntl.F_GETFL) | os.O_ASYNC)
    select.select([descriptor], [], [])
    os.close(writing)
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
