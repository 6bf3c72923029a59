"""Random programs on real ranks: does the library say who waits for whom as an independent count does?

    python tests/random_programs.py --count 300 --seed 1

A program is drawn as one that ends well, an order of events that every rank follows; then a few things go wrong.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from random_oracle import Outcome, Undefined, Waiting, expect

HERE = Path(__file__).resolve().parent
KINDS = ("barrier", "all_reduce", "all_gather", "broadcast", "gather", "scatter")
LEAVES = ("return", "exit0", "exit3", "os_exit0", "os_exit5")
DEADLINE, LONG = 4.0, 40.0  # seconds: of a program that hangs, and of one that may be slow to end


def draw(seed: int) -> tuple[dict, Outcome]:
    """The program of a seed, and what is expected of it: the first of a series that is defined."""
    for attempt in range(1000):
        program = _draw(random.Random(f"{seed}/{attempt}"))
        try:
            return program, expect(program)
        except Undefined:
            continue
    raise RuntimeError(f"no program of seed {seed} is defined")


def _draw(rng: random.Random) -> dict:
    size = rng.choice((2, 2, 3, 3, 3, 4))
    groups = [list(range(size))]
    groups += [sorted(rng.sample(range(size), rng.randint(2, size))) for _ in range(rng.randint(0, 2))]
    leaves = rng.random() < 0.3  # what is in flight or in a second thread when a rank ends is not defined
    main = _healthy(rng, size, groups, rng.randint(3, 10), with_handles=not leaves)
    side: list[list] = [[] for _ in range(size)]
    if not leaves and rng.random() < 0.3:
        groups.append(sorted(rng.sample(range(size), rng.randint(2, size))))
        side = _collectives(rng, size, groups, len(groups) - 1, rng.randint(1, 4))
        if rng.random() < 0.5:
            me = rng.choice(groups[-1])
            _spoil(rng, side[me], me, size)
    for _ in range(rng.choice((0, 1, 1, 1, 2))):
        me = rng.randrange(size)
        _spoil(rng, main[me], me, size)
    if leaves:
        rank = rng.choice(main)
        rank.insert(rng.randint(0, len(rank)), ["leave", rng.choice(LEAVES)])
    return {"size": size, "groups": groups, "main": main, "side": side}


def _healthy(rng: random.Random, size: int, groups: list, count: int, with_handles: bool) -> list[list]:
    """For each rank its part of one order of events: collectives of one kind a group, mostly, and messages."""
    ranks: list[list] = [[] for _ in range(size)]
    kinds = [rng.choice(KINDS) for _ in groups]
    for event in range(count):
        if rng.random() < 0.35:
            source, target = rng.sample(range(size), 2)
            tag = rng.randint(0, 2)
            _add(rng, ranks[source], "send", [target, tag], event, with_handles)
            _add(rng, ranks[target], "recv", [source, tag], event, with_handles)
        else:
            group = rng.randrange(len(groups))
            kind = kinds[group] if rng.random() < 0.8 else rng.choice(KINDS)
            for rank in groups[group]:
                _add(rng, ranks[rank], "call", [kind, group, groups[group][0]], event, with_handles)
    return [_with_waits(rng, rank) for rank in ranks]


def _collectives(rng: random.Random, size: int, groups: list, group: int, count: int) -> list[list]:
    ranks: list[list] = [[] for _ in range(size)]
    for _ in range(count):
        kind = rng.choice(KINDS)
        for rank in groups[group]:
            ranks[rank].append(["call", kind, group, groups[group][0]])
    return ranks


def _add(rng: random.Random, rank: list, name: str, args: list, event: int, with_handles: bool) -> None:
    if with_handles and rng.random() < 0.3:
        rank.append([{"call": "start"}.get(name, f"i{name}"), *args, event])
    else:
        rank.append([name, *args])


def _with_waits(rng: random.Random, rank: list) -> list:
    """The operations with a wait for each handle, some operations later."""
    operations = list(rank)
    for operation in rank:
        if operation[0] in ("start", "isend", "irecv"):
            begin = next(i for i, other in enumerate(operations) if other is operation)
            operations.insert(rng.randint(begin + 1, min(begin + 4, len(operations))), ["wait", operation[-1]])
    return operations


def _spoil(rng: random.Random, rank: list, me: int, size: int) -> None:
    """Let one thing go wrong in the operations of one rank."""
    if not rank:
        return
    at = rng.randrange(len(rank))
    name, *args = rank[at]
    wrong = rng.choice(("drop", "drop", "swap", "twice", "message", "stuck"))
    if wrong == "drop":
        handle = args[-1] if name in ("start", "isend", "irecv", "wait") else None
        rank[:] = [op for i, op in enumerate(rank) if i != at and (handle is None or not _is_of(op, handle))]
    elif wrong == "swap" and at + 1 < len(rank) and "wait" not in (name, rank[at + 1][0]):
        rank[at], rank[at + 1] = rank[at + 1], rank[at]
    elif wrong == "twice" and name in ("call", "send", "recv"):
        rank.insert(at, [name, *args])
    elif wrong == "message" and name.endswith(("send", "recv")):
        tag = rng.random() < 0.5
        rank[at][2 if tag else 1] = (args[1] + 1) % 3 if tag else rng.choice(_others(me, args[0], size))
    elif wrong == "stuck":
        rank.insert(at, ["stuck"])


def _others(me: int, peer: int, size: int) -> list[int]:
    """The ranks that a message may go to by mistake; torch refuses one to its own rank."""
    return [rank for rank in range(size) if rank not in (me, peer)] or [peer]


def _is_of(operation: list, handle: int) -> bool:
    return operation[0] in ("start", "isend", "irecv", "wait") and operation[-1] == handle


def said(trace) -> set[Waiting]:
    """What the library answers, in the terms of the oracle."""
    from barrier_lab import diagnose

    found = set()
    for wait in diagnose.waits(trace):
        call, group, awaited = wait.call, tuple(wait.group), tuple(wait.awaited)
        side = wait.thread is not None
        found.add(Waiting(wait.rank, side, call.name, group, call.seq, call.peer, call.tag, awaited))
    return found


def disagreements(expected: Outcome, run) -> list[str]:
    """In what a run's answers differ from what was expected; nothing if they are right."""
    from verdicts import judge

    found = []
    if run.outcome != expected.outcome:
        found.append(f"outcome: {run.outcome}, expected {expected.outcome}")
    answered = said(run.trace)
    found += [f"not told: {wait}" for wait in sorted(expected.waits - answered, key=repr)]
    found += [f"told: {wait}" for wait in sorted(answered - expected.waits, key=repr)]
    if expected.outcome == "failed":
        allowed = judge.MAY_WAIT
        blamed = {r for sentence in judge.sentences(run.verdict) for r in judge.accused(sentence, allowed)}
        found += [f"the verdict does not blame rank {rank}, which left" for rank in expected.left - blamed]
        found += [f"the verdict blames rank {rank}, a victim" for rank in blamed & expected.failed]
    return found


def run_programs(seeds: list[int], at_once: int = 12, deadline: float = DEADLINE) -> Iterator[tuple]:
    """Run the programs of the seeds, and give each with what differs: (seed, program, expected, run, differences)."""
    from barrier_lab import run_many

    drawn = [(seed, *draw(seed)) for seed in seeds]
    drawn.sort(key=lambda one: one[2].outcome)  # those that last equally long go together
    for first in range(0, len(drawn), at_once):
        batch = drawn[first : first + at_once]
        variants = [
            {
                "experiment": HERE / "random_worker.py",
                "world_size": program["size"],
                "deadline": deadline if expected.outcome == "hung" else LONG,
                "program": json.dumps(program),
            }
            for _, program, expected in batch
        ]
        for (seed, program, expected), run in zip(batch, run_many(variants), strict=True):
            yield seed, program, expected, run, disagreements(expected, run)


def show(program: dict) -> str:
    """A program as a small table of operations."""
    lines = [f"{program['size']} ranks, groups {program['groups']}"]
    for where in ("main", "side"):
        for rank, operations in enumerate(program[where]):
            if operations:
                steps = "; ".join(" ".join(map(str, operation)) for operation in operations)
                lines.append(f"  rank {rank}{' (side)' if where == 'side' else ''}: {steps}")
    return "\n".join(lines)


def main() -> int:
    """Run the programs of successive seeds, print those on which the answers differ, and how many are right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--at-once", type=int, default=12)
    parser.add_argument("--deadline", type=float, default=DEADLINE)
    given = parser.parse_args()
    seeds = list(range(given.seed, given.seed + given.count))
    right, outcomes = 0, dict.fromkeys(("completed", "failed", "hung"), 0)
    for seed, program, expected, run, differences in run_programs(seeds, given.at_once, given.deadline):
        right += not differences
        outcomes[expected.outcome] += 1
        if differences:
            print(f"\nseed {seed}: {show(program)}", *differences, run.verdict, sep="\n  - ", flush=True)
    print(f"{right} of {given.count} right ({', '.join(f'{n} {name}' for name, n in outcomes.items())}).")
    return 0 if right == given.count else 1


if __name__ == "__main__":
    sys.exit(main())
