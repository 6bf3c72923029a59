"""A program of its own: wait until a rank is gone, end what is left of its process group, and remove a folder.

    python guard.py DESCRIPTOR GROUP [FOLDER]

``DESCRIPTOR`` is a pidfd of the rank, ``GROUP`` the number of its process group, which exists when this starts.
"""

import fcntl
import os
import select
import shutil
import signal
import sys


def main(descriptor: int, group: int, folder: str = "") -> None:
    """Do it, in a process that is no child of the rank's: its script may wait for all its children."""
    if os.fork():
        os._exit(0)
    # The kernel signals the group when the writing end closes.  It knows the group itself; the number may be another's
    # by then.
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
