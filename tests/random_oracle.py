"""Who waits for whom at the end of a random program: worked out from what gloo does, not from what was recorded.

What gloo does, as tried: the k-th collective of a rank on a group meets the k-th of the others.  barrier, all_reduce
and all_gather end for nobody before all members have called them.  A broadcast goes down a binomial tree: a rank is
done when its parent has sent to it and its own children have called.  In gather and scatter the root needs all, and
the others need the root.  A message ends when both sides have called, whatever its size.
Collectives of different kinds never meet.  A rank that ends closes its connections, and who needs it fails.
"""

from dataclasses import dataclass, field

ROOTED = ("broadcast", "gather", "scatter")


class Undefined(Exception):
    """What gloo does with this program depends on its algorithms or on time."""


@dataclass(frozen=True, order=True)
class Waiting:
    """A thread that waits in a call at the end."""

    rank: int
    side: bool  # the second thread
    name: str
    group: tuple[int, ...]
    seq: int | None  # of a collective
    peer: int | None  # of a message
    tag: int | None
    awaited: tuple[int, ...]  # who had not made the call that this one needs


@dataclass
class Outcome:
    """What is expected of a run."""

    outcome: str
    waits: set[Waiting] = field(default_factory=set)
    left: set[int] = field(default_factory=set)  # ended by themselves before the others were done
    failed: set[int] = field(default_factory=set)  # lost a rank that they needed


@dataclass
class _Thread:
    rank: int
    side: bool
    operations: list
    at: int = 0
    begun: bool = False  # the operation at ``at`` has been called, and blocks
    handles: dict = field(default_factory=dict)
    current: tuple | None = None  # what a blocking operation waits for

    @property
    def done(self) -> bool:
        return self.at >= len(self.operations)


class _World:
    """The calls that have been made so far."""

    def __init__(self, program: dict) -> None:
        self.size = program["size"]
        self.groups = [tuple(ranks) for ranks in program["groups"]]
        self.collectives: dict[tuple[int, int], list[tuple]] = {}  # (group, rank) -> kind, root, in background
        self.messages: dict[tuple, int] = {}  # (sends, from, to, tag) -> how many
        self.codes: dict[int, int] = {}  # of the ranks that have left
        self.failed: set[int] = set()
        self.threads = [_Thread(r, False, program["main"][r]) for r in range(self.size)]
        self.threads += [_Thread(r, True, program["side"][r]) for r in range(self.size) if program["side"][r]]

    def gone(self) -> set[int]:
        return self.failed | self.codes.keys()

    def call(self, thread: _Thread, kind: str, group: int, root: int, background: bool) -> tuple:
        made = self.collectives.setdefault((group, thread.rank), [])
        made.append((kind, root, background))
        return "collective", group, thread.rank, len(made)

    def post(self, thread: _Thread, sends: bool, peer: int, tag: int) -> tuple:
        way = (sends, thread.rank, peer, tag) if sends else (sends, peer, thread.rank, tag)
        self.messages[way] = self.messages.get(way, 0) + 1
        return "message", way, self.messages[way]

    def kind(self, group: int, rank: int, seq: int) -> tuple | None:
        """Kind and root of a rank's call number ``seq``, or None."""
        made = self.collectives.get((group, rank), [])
        return made[seq - 1][:2] if len(made) >= seq else None

    def missing(self, call: tuple) -> set[int]:
        """The ranks that have not made the call that ``call`` needs; of another kind counts as made."""
        if call[0] == "message":
            _, (sends, source, target, tag), number = call
            there = self.messages.get((not sends, source, target, tag), 0) >= number
            return set() if there else {target if sends else source}
        _, group, _, seq = call
        return {rank for rank in self.groups[group] if self.kind(group, rank, seq) is None}

    def complete(self, call: tuple) -> bool:
        if call[0] == "message":
            return not self.missing(call)
        _, group, rank, seq = call
        kind = self.kind(group, rank, seq)
        return all(self.kind(group, other, seq) == kind for other in _needed(self.groups[group], *kind, rank))

    def step(self, thread: _Thread) -> bool:
        """Go on with one operation as far as possible; False if nothing has changed."""
        if thread.done or thread.rank in self.gone():
            return False
        name, *args = thread.operations[thread.at]
        began = not thread.begun
        if began:
            thread.begun, thread.current = True, self.begin(thread, name, args)
        if name in ("start", "isend", "irecv"):
            thread.handles[args[-1]] = thread.current
        elif name == "stuck" or (thread.current and not self.complete(thread.current)):
            return began
        elif name == "leave":
            self.codes[thread.rank] = int(args[0][-1]) if args[0] != "return" else 0
            return True
        thread.at, thread.begun, thread.current = thread.at + 1, False, None
        return True

    def begin(self, thread: _Thread, name: str, args: list) -> tuple | None:
        if name in ("call", "start"):
            return self.call(thread, *args[:3], name == "start")
        if name == "wait":
            return thread.handles[args[0]]
        if name.endswith(("send", "recv")):
            return self.post(thread, name.endswith("send"), *args[:2])
        return None

    def blocked(self) -> list[_Thread]:
        return [t for t in self.threads if t.current and not t.done and t.rank not in self.gone()]


def _needed(members: tuple[int, ...], kind: str, root: int, rank: int) -> set[int]:
    """Who must have called a collective before it ends for a rank."""
    if kind == "broadcast":
        return _tree(members, root, rank)
    return {root} if kind in ("gather", "scatter") and rank != root else set(members)


def _tree(members: tuple[int, ...], root: int, rank: int) -> set[int]:
    """Whom a rank of a broadcast needs: all from the root down to it, and its own children."""
    size, first = len(members), members.index(root)
    number = (members.index(rank) - first) % size
    needed, above = set(), number
    while above:
        above -= 1 << (above.bit_length() - 1)  # the parent: without the highest bit
        needed.add(above)
    needed |= {n for bit in range(number.bit_length(), size.bit_length()) if (n := number + (1 << bit)) < size}
    return {members[(n + first) % size] for n in needed}


def expect(program: dict) -> Outcome:
    """What a run of the program comes to.  ``Undefined`` if that is not sure."""
    world = _World(program)
    while True:
        while any([world.step(thread) for thread in world.threads]):
            pass
        lost = {t.rank for t in world.blocked() if _needs_one_who_left(world, t.current)}
        if not lost:
            break
        world.failed |= lost
    _refuse_unsure(world)
    left = set(world.codes)
    waits = {_waiting(world, thread) for thread in world.blocked()}
    over = all(t.done or t.rank in left for t in world.threads)
    broken = bool(world.failed) or any(world.codes.values())
    outcome = "failed" if broken else "completed" if over else "hung"
    return Outcome(outcome, waits, left, world.failed)


def _needs_one_who_left(world: _World, call: tuple) -> bool:
    missing = world.missing(call)
    return bool(missing) and missing <= world.gone()


def _refuse_unsure(world: _World) -> None:
    """Some missing ranks have gone and some have not; roots that differ; a mismatch in the background."""
    for thread in world.blocked():
        if world.missing(thread.current) & world.gone():
            raise Undefined
    for group, members in enumerate(world.groups):
        for seq in range(1, 1 + max((len(world.collectives.get((group, r), [])) for r in members), default=0)):
            made = [calls[seq - 1] for r in members if len(calls := world.collectives.get((group, r), [])) >= seq]
            if len({(kind, root) for kind, root, _ in made}) > 1:
                unsure = any(background for *_, background in made) or world.gone()
                if unsure or len({root for kind, root, _ in made if kind in ROOTED}) > 1:
                    raise Undefined


def _waiting(world: _World, thread: _Thread) -> Waiting:
    call, missing = thread.current, tuple(sorted(world.missing(thread.current)))
    if call[0] == "message":
        _, (sends, source, target, tag), _ = call
        name = _message_name(thread, "send" if sends else "recv")
        everybody, peer = world.groups[0], target if sends else source
        return Waiting(thread.rank, thread.side, name, everybody, None, peer, tag, missing)
    _, group, rank, seq = call
    kind = world.kind(group, rank, seq)[0]
    return Waiting(thread.rank, thread.side, kind, world.groups[group], seq, None, None, missing)


def _message_name(thread: _Thread, name: str) -> str:
    return f"i{name}" if thread.operations[thread.at][0] == "wait" else name
