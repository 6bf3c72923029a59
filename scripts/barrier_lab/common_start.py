"""The common start: all ranks begin their experiment at one moment, t = 0."""

import os
import time
from collections.abc import Callable
from datetime import timedelta

HEAD_START = 0.02  # seconds between naming t = 0 and t = 0: ranks learn of it up to some milliseconds apart
STARTUP_LIMIT = 120.0  # seconds until every rank must have reached t = 0


def start_together(plan: dict, recorder, tell: Callable[[str, str], None]) -> None:
    """Wait until every rank is here, then until the moment that rank 0 names: t = 0."""
    start_ns = _agree_on_start() if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True" else time.monotonic_ns()
    while (left := start_ns - time.monotonic_ns()) > 0:
        time.sleep(left / 1e9 if left > 2_000_000 else 0)
    recorder.mark("start", "meta", at=start_ns)
    tell("start", str(start_ns))


def _agree_on_start() -> int:
    """Meet at the launcher's store; rank 0 names a moment on CLOCK_MONOTONIC, which ranks on one host share."""
    import torch.distributed as dist

    limit = timedelta(seconds=STARTUP_LIMIT)
    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    tcp = dist.TCPStore(host, port, is_master=False, timeout=limit)
    store = dist.PrefixStore(f"barrier_lab/{os.environ.get('TORCHELASTIC_RUN_ID', '')}/{attempt}", tcp)
    size = int(os.environ["WORLD_SIZE"])
    if store.add("here", 1) == size:
        store.set("everybody", "")
    store.wait(["everybody"], limit)
    if size != int(os.environ["LOCAL_WORLD_SIZE"]):
        return time.monotonic_ns()  # several hosts share no clock: t = 0 is accurate to a message only
    if os.environ["RANK"] == "0":
        store.set("start", str(time.monotonic_ns() + int(HEAD_START * 1e9)))
    return int(store.get("start"))
