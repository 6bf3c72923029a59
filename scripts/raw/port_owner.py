"""Who listens at this port?  From /proc only, for a Linux machine without ss and lsof.

python port_owner.py 29500
"""

import sys
from pathlib import Path

LISTENING = "0A"


def sockets(port: int) -> set[str]:
    """The sockets that listen at the port, by their inode numbers."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == LISTENING and int(local.split(":")[1], 16) == port:
                found.add(f"socket:[{inode}]")
    return found


def owners(port: int) -> list[int]:
    """The processes that have one of them open; other users' only if you are root."""
    wanted, found = sockets(port), set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if str(link.readlink()) in wanted:
                found.add(int(link.parts[2]))
        except OSError:  # not ours, or closed meanwhile
            continue
    return sorted(found)


if __name__ == "__main__":
    for pid in owners(int(sys.argv[1])):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        print(pid, b" ".join(words).decode())
