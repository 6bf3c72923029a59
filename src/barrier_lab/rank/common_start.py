"""The common start: all ranks start the experiment at the same time, t = 0."""

import contextlib
import os
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

HEAD_START = 0.02  # seconds from choosing t = 0 to t = 0: ranks receive it up to a few milliseconds apart
STARTUP_LIMIT = 120.0  # seconds within which every rank must have reached t = 0


def start_together(recorder, tell: Callable[[str, str], None]) -> None:
    """Wait until all ranks have arrived, then until t = 0, which rank 0 chooses."""
    start_ns = _agree_on_start()
    while (left := start_ns - time.monotonic_ns()) > 0:
        time.sleep(left / 1e9 if left > 2_000_000 else 0)
    recorder.mark("start", "meta", at=start_ns)
    if not _on_one_host():
        recorder.mark("clocks", "meta", shared=False)
    tell("start", str(start_ns))


def _on_one_host() -> bool:
    """Whether all ranks run on one host, with a common clock and temporary directory."""
    return os.environ["WORLD_SIZE"] == os.environ["LOCAL_WORLD_SIZE"]


def _agree_on_start() -> int:
    """Rendezvous at a store; rank 0 chooses a time on CLOCK_MONOTONIC, which ranks on one host share."""
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        return _meet(_agent_store())
    if not _on_one_host():
        return time.monotonic_ns()  # no store is reachable before the script initializes its group
    folder = _shared_folder()
    start_ns = _meet(_file_store(folder))
    with contextlib.suppress(OSError):
        folder.rmdir()  # the last rank to leave the store has removed its file
    return start_ns


def _meet(store) -> int:
    limit = timedelta(seconds=STARTUP_LIMIT)
    if store.add("here", 1) == int(os.environ["WORLD_SIZE"]):
        store.set("everybody", "")
    store.wait(["everybody"], limit)
    if not _on_one_host():
        return time.monotonic_ns()  # t = 0 is only as accurate as the latency of a message
    if os.environ["RANK"] == "0":
        store.set("start", str(time.monotonic_ns() + int(HEAD_START * 1e9)))
    store.wait(["start"], limit)
    return int(store.get("start"))


def _agent_store():
    """Connect to the store hosted by the launcher."""
    import torch.distributed as dist

    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    tcp = dist.TCPStore(host, port, is_master=False, timeout=timedelta(seconds=STARTUP_LIMIT))
    return dist.PrefixStore(f"barrier_lab/{os.environ.get('TORCHELASTIC_RUN_ID', '')}/{attempt}", tcp)


def _shared_folder() -> Path:
    """A temporary folder of this attempt, for when the agent does not share a store."""
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    # Named like the folders of runs, by the owner's pid, so that those left by a killed job are cleaned up too.
    folder = Path(tempfile.gettempdir(), f"barrier_lab-{os.getppid()}-start_{os.environ['MASTER_PORT']}_{attempt}")
    folder.mkdir(exist_ok=True)
    return folder


def _file_store(folder: Path):
    import torch.distributed as dist

    store = dist.FileStore(str(folder / "store"), int(os.environ["WORLD_SIZE"]))
    store.set_timeout(timedelta(seconds=STARTUP_LIMIT))
    return store
