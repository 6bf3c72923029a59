"""How long it takes to read a run, to say its verdict and to draw it, and how that grows with the ranks.

    python benchmarks/reading.py

Goal: 64 ranks with 1,000 barriers each in at most 3 s; from 64 to 1,024 ranks at most 16 times as long.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from barrier_lab import diagnose, timeline, trace

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import made_traces

GOAL_S = 3.0


def measure(world_size: int, barriers: int, directory: Path) -> dict[str, float]:
    """CPU seconds of each step for one generated run; the machine may be busy with other work."""
    made_traces.many(directory, world_size, barriers)
    took: dict[str, float] = {}

    def timed(name: str, step: Callable, *args: object) -> object:
        begin = time.process_time()
        result = step(*args)
        took[name] = time.process_time() - begin
        return result

    run = timed("read", trace.read, directory)
    timed("verdict", diagnose.verdict, run)
    timed("draw", timeline.html, run)
    return took


def main() -> None:
    """Print the steps, the sum against the goal, and the growth from 64 to 1,024 ranks."""
    sums = {}
    with tempfile.TemporaryDirectory() as scratch:
        measure(2, 10, Path(scratch) / "first")  # imports and fonts
        for world_size, barriers in ((64, 1000), (64, 60), (1024, 60)):
            took = measure(world_size, barriers, Path(scratch) / f"{world_size}x{barriers}")
            sums[world_size, barriers] = sum(took.values())
            steps = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in took.items())
            print(f"{world_size:5} ranks x {barriers:4} barriers: {sum(took.values()):.2f} s of CPU ({steps})")
    whole = sums[64, 1000]
    print(f"64 ranks x 1,000 barriers: {whole:.2f} s, goal {GOAL_S:.0f} s: {'met' if whole <= GOAL_S else 'MISSED'}")
    growth = sums[1024, 60] / sums[64, 60]
    verdict = "linear or better" if growth <= 16 else "WORSE THAN LINEAR"
    print(f"16 times the ranks take {growth:.1f} times as long: {verdict}")


if __name__ == "__main__":
    main()
