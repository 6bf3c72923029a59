"""Does one process with two threads do as much as two processes?

Not in Python code: the threads of a process share one interpreter lock, so one
of them runs at a time.  Each process has a lock of its own.
"""

import threading
import time

from barrier_lab import main


def count(steps: int) -> None:
    while steps:
        steps -= 1


def worker(
    rank: int,
    world_size: int,
    *,
    threads: int = 1,
    steps: int = 10_000_000,
) -> list[float]:
    began, used = time.monotonic(), time.process_time()
    crew = []
    for _ in range(threads):
        crew.append(threading.Thread(target=count, args=(steps,)))
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    seconds, cpu = time.monotonic() - began, time.process_time() - used
    print(f"{threads} x {steps} steps took {seconds:.2f} s")
    return [seconds, cpu]


if __name__ == "__main__":
    main(worker)
