"""What recording costs: one span against other recorders, and one barrier with hooks against one without.

Ratios of medians; the candidates take turns, so that a noisy moment hits all of them.
Goal: our span costs no more than the cheapest of the others.

    python benchmarks/recording.py [ROUNDS]
"""

import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

SPANS = 500  # per candidate and round
BARRIERS = 100
DEEP = 10  # callers in files of the reader's
ROUNDS = 41

Timed = Callable[[int], float]  # do it so many times; the seconds that it took


def main(rounds: int = ROUNDS) -> dict[str, float]:
    """Measure, print, and return microseconds by candidate."""
    with tempfile.TemporaryDirectory() as folder:
        spans = measure(span_candidates(Path(folder)), SPANS, rounds)
        barriers = measure_barriers(Path(folder), rounds)
    ours = spans["our span"]
    print(f"One recorded span, CPU time, median of {rounds} rounds of {SPANS}:")
    for name, cost in spans.items():
        ratio = "" if name == "our span" else f"   our span / this = {ours / cost:.2f}"
        print(f"  {name:<42}{cost:7.2f} µs{ratio}")
    others = min(cost for name, cost in spans.items() if name != "our span")
    print(f"  goal, our span / the cheapest other <= 1: {'met' if ours <= others else 'MISSED'}")
    plain, hooked = barriers["barrier"], barriers["barrier with hooks"]
    deep = barriers["barrier with hooks, deep"]
    print(f"One barrier of one rank, wall time, median of {rounds} rounds of {BARRIERS}:")
    for name, cost in barriers.items():
        print(f"  {name:<42}{cost:7.2f} µs")
    print(f"  with hooks / without = {hooked / plain:.2f}; the hooks cost {hooked - plain:.1f} µs a call")
    print(f"  a call path of {DEEP} lines more costs {deep - hooked:.1f} µs a call")
    return spans | barriers


def measure(candidates: dict[str, Timed], count: int, rounds: int) -> dict[str, float]:
    """Median microseconds of one call of each candidate; each runs ``count`` calls by itself, in turn."""
    for run in candidates.values():
        run(count)
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    order = list(candidates.items())
    for _ in range(rounds):
        for name, run in order:
            seconds[name].append(run(count))
        order.append(order.pop(0))
    return {name: statistics.median(times) / count * 1e6 for name, times in seconds.items()}


def span_candidates(folder: Path) -> dict[str, Timed]:
    """Ours is in its file when it ends.  The others are in memory, where a kill loses them, until they are saved."""
    return {
        "our span": our_spans(folder),
        "viztracer log_event, saved": viztracer_spans(folder / "viztracer.json"),
        "viztracer log_event, in memory": viztracer_spans(None),
        "viztracer log_event, in memory, lean": viztracer_spans(None, ignore_c_function=True, max_stack_depth=0),
        "torch.profiler.record_function, in memory": profiler_spans(),
    }


def our_spans(folder: Path) -> Timed:
    """A span as the hooks record it."""
    from barrier_lab.recording import recorder as recording

    recorder = recording.open_trace(folder / "rank0.trace.json", 0)
    place = (__file__, 1, "worker")

    def run(count: int) -> float:
        begin = time.thread_time()
        for seq in range(count):
            op = recorder.begin("barrier", "collective", group="default", seq=seq, place=place)
            recorder.end("barrier", "collective", op)
        return time.thread_time() - begin

    return run


def viztracer_spans(file: Path | None, **settings: Any) -> Timed:
    """Custom events of a tracer, by default with its own settings; lean, it traces nothing else."""
    from viztracer import VizTracer

    tracer = VizTracer(verbose=0, **settings)

    def run(count: int) -> float:
        tracer.start()
        begin = time.thread_time()
        for _ in range(count):
            with tracer.log_event("barrier"):
                pass
        if file is not None:
            tracer.save(str(file))
        seconds = time.thread_time() - begin
        tracer.stop()
        tracer.clear()
        return seconds

    return run


def profiler_spans() -> Timed:
    """``record_function`` under a running profiler, the only state in which it records."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # else the profiler reports each start and stop on stderr
    from torch.profiler import ProfilerActivity, profile, record_function

    def run(count: int) -> float:
        with profile(activities=[ProfilerActivity.CPU]):
            begin = time.thread_time()
            for _ in range(count):
                with record_function("barrier"):
                    pass
            return time.thread_time() - begin

    return run


def measure_barriers(folder: Path, rounds: int) -> dict[str, float]:
    """The same barrier in two processes, one with hooks, that take turns."""
    context = multiprocessing.get_context("spawn")
    candidates: dict[str, Timed] = {}
    pipes, processes = [], []
    for name in ("barrier", "barrier with hooks", "barrier with hooks, deep"):
        pipe, end = context.Pipe()
        depth = DEEP if "deep" in name else 0
        arguments = (end, folder / name.replace(" ", "_"), "hooks" in name, depth)
        processes.append(context.Process(target=serve_barriers, args=arguments, daemon=True))
        processes[-1].start()
        pipes.append(pipe)
        candidates[name] = ask(pipe)
    costs = measure(candidates, BARRIERS, rounds)
    for pipe, process in zip(pipes, processes, strict=True):
        pipe.send(0)
        process.join()
    return costs


def call_barriers(count: int, depth: int) -> None:
    """Call barriers below so many callers."""
    import torch.distributed as dist

    if depth:
        return call_barriers(count, depth - 1)
    for _ in range(count):
        dist.barrier()


def ask(pipe: Connection) -> Timed:
    """Have the process at the other end run."""

    def run(count: int) -> float:
        pipe.send(count)
        return pipe.recv()

    return run


def serve_barriers(pipe: Connection, folder: Path, hooked: bool, depth: int) -> None:
    """A world of one rank that calls as many barriers as it is asked for, ``depth`` functions deep."""
    import torch.distributed as dist

    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    if hooked:
        from barrier_lab.recording import hooks
        from barrier_lab.recording import recorder as recording

        folder.mkdir()
        hooks.install(recording.open_trace(folder / "rank1.trace.json", 1), __file__)
        hooks.start()
    while count := pipe.recv():
        begin = time.perf_counter()
        call_barriers(count, depth)
        pipe.send(time.perf_counter() - begin)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
