"""Two hosts on one machine: network namespaces that a pair of virtual interfaces connects."""

import contextlib
import os
import secrets
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """Where a command runs: ``enter`` goes before it."""

    enter: tuple[str, ...]
    address: str
    interface: str

    def ip(self, *arguments: str) -> None:
        """Change the host's network."""
        subprocess.run([*self.enter, "ip", *arguments], check=True)


@contextlib.contextmanager
def two_hosts() -> Iterator[list[Host]]:
    """Two hosts that reach each other; both on the loopback interface where namespaces are not allowed."""
    names = [f"bl{secrets.token_hex(3)}{side}" for side in "ab"]
    if os.geteuid() != 0 or _ip("netns", "add", names[0]).returncode:
        print("two agents on loopback: no right to make network namespaces")
        yield [Host((), "127.0.0.1", "lo") for _ in names]
        return
    try:
        _ip("netns", "add", names[1], check=True)
        _ip("link", "add", names[0], "type", "veth", "peer", "name", names[1], check=True)
        hosts = []
        for number, name in enumerate(names, 1):
            host = Host(("ip", "netns", "exec", name), f"10.77.0.{number}", name)
            _ip("link", "set", name, "netns", name, check=True)
            host.ip("address", "add", f"{host.address}/24", "dev", name)
            host.ip("link", "set", name, "up")
            host.ip("link", "set", "lo", "up")
            hosts.append(host)
        print("two network namespaces")
        yield hosts
    finally:
        for name in names:
            _ip("netns", "delete", name)  # and with it its end of the pair


def _ip(*arguments: str, check: bool = False) -> subprocess.CompletedProcess:
    return subprocess.run(["ip", *arguments], capture_output=True, check=check)
