"""What ``barrier_lab trace`` costs a training script, beside the same script without it, and a process without torch.

Two jobs of two ranks each train under DistributedDataParallel and take turns, so that a noisy moment hits both.
Goals: a step of about 5 ms takes at most 1.01 times as long; a process that never imports torch starts at most
30 ms later.

    python benchmarks/tracing.py [ROUNDS]
"""

import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path

STEPS = 10  # per job and round
ROUNDS = 201
STARTS = 15
TRACE = [sys.executable, "-m", "barrier_lab", "trace", "--out"]
ADDRESS, KEY = "BENCHMARK_ADDRESS", "BENCHMARK_KEY"


def main(rounds: int = ROUNDS) -> None:
    """Measure and print both goals."""
    with tempfile.TemporaryDirectory() as folder:
        steps = take_turns(Path(folder), rounds)
        starts = measure_starts(Path(folder))
    # The quickest quarter of the rounds: what else runs on the machine makes rounds longer, never shorter.
    bare, traced = (statistics.quantiles(steps[name])[0] / STEPS * 1e3 for name in ("bare", "traced"))
    ratio = traced / bare
    print(f"One training step of two ranks, lower quartile of {rounds} rounds of {STEPS}:")
    print(f"  bare {bare:.2f} ms, traced {traced:.2f} ms")
    print(f"  traced / bare = {ratio:.4f} (goal <= 1.01: {'met' if ratio <= 1.01 else 'MISSED'})")
    later = (statistics.median(starts["traced"]) - statistics.median(starts["bare"])) * 1e3
    print(
        f"A process that imports no torch starts {later:.1f} ms later (goal < 30: {'met' if later < 30 else 'MISSED'})"
    )


def take_turns(folder: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds of each round of each job."""
    jobs = {"bare": start([], folder), "traced": start([*TRACE, str(folder / "run"), "--"], folder)}
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    order = list(jobs)
    for number in range(-2, rounds):  # the first two rounds warm up
        for name in order:
            pipe, _ = jobs[name]
            pipe.send(STEPS)
            took = pipe.recv()
            if number >= 0:
                seconds[name].append(took)
        order.reverse()
    for pipe, process in jobs.values():
        pipe.send(0)
        process.wait()
    return seconds


def start(before: list[str], folder: Path) -> tuple[Connection, subprocess.Popen]:
    """Start this file as a job of two ranks, and return the connection to its rank 0."""
    name = str(folder / secrets.token_hex(4))
    key = secrets.token_hex(8)
    environment = os.environ | {ADDRESS: name, KEY: key, "OMP_NUM_THREADS": "1"}
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    with Listener(name, authkey=key.encode()) as listener:
        process = subprocess.Popen([*before, sys.executable, *torchrun, __file__, "job"], env=environment)
        return listener.accept(), process


def train() -> None:
    """A rank of the job: as many steps as it is asked for."""
    import torch
    import torch.distributed as dist
    from torch import nn

    dist.init_process_group("gloo")
    layers = [layer for _ in range(3) for layer in (nn.Linear(384, 384), nn.ReLU())]
    model = nn.parallel.DistributedDataParallel(nn.Sequential(*layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    pipe = Client(os.environ[ADDRESS], authkey=os.environ[KEY].encode()) if dist.get_rank() == 0 else None
    count = torch.zeros(1, dtype=torch.int64)
    while True:
        count[0] = pipe.recv() if pipe else 0
        dist.broadcast(count, 0)
        if not count:
            break
        begin = time.perf_counter()
        for _ in range(int(count)):
            optimizer.zero_grad()
            loss = model(torch.randn(32, 384)).square().mean()
            loss.backward()
            optimizer.step()
            dist.all_reduce(loss.detach())
        if pipe:
            pipe.send(time.perf_counter() - begin)
    dist.destroy_process_group()


def measure_starts(folder: Path) -> dict[str, list[float]]:
    """Seconds that a Python process without torch takes, with and without what ``trace`` puts into its environment."""
    from barrier_lab.tracing.command import environment

    traced = os.environ | environment(folder / "unused", stall=10.0, keep=64.0)
    seconds: dict[str, list[float]] = {"bare": [], "traced": []}
    for _ in range(STARTS):
        for name, variables in (("bare", os.environ), ("traced", traced)):
            seconds[name].append(timed(lambda variables=variables: run_nothing(variables)))
    return seconds


def run_nothing(variables: dict[str, str]) -> None:
    """Start and end a process."""
    subprocess.run([sys.executable, "-c", "import json"], env=variables, check=True)


def timed(action: Callable[[], object]) -> float:
    """Seconds of a call."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


if __name__ == "__main__":
    if sys.argv[1:] == ["job"]:
        train()
    else:
        main(*map(int, sys.argv[1:2]))
