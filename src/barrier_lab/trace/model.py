"""Data model of a recorded run: a :class:`Trace` with its ranks, their spans and their output.

Times are seconds since the common start of the ranks (t = 0), negative before it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Collectives that no rank leaves before the last one has arrived, unlike broadcast, whose source does not wait.
ALL_MEET = {"barrier", "monitored_barrier", "all_reduce", "all_gather", "all_gather_into_tensor", "all_to_all"}


@dataclass(frozen=True, slots=True)
class Place:
    """A location in source code."""

    file: str
    line: int
    function: str


@dataclass(slots=True)
class Span:
    """An interval on one rank: a collective, message, group creation, wait for a handle, or sleep."""

    rank: int
    name: str  # as in Python: "barrier", "all_reduce", "new_group", "wait", "sleep", …
    kind: str  # "collective", "p2p", "group", "wait" or "sleep"
    group: str | None  # "default" or the group's name; for group creation, the function's name; None for a sleep
    seq: int | None  # 1 for the rank's first collective on this group; None for sleeps, waits and messages
    begin: float  # seconds since the common start
    end: float | None  # None: not ended when the recording stopped
    blocked: bool  # the call blocked its thread
    error: str | None = None  # the exception that ended it, as "RuntimeError: first line"
    file: str | None = None  # the innermost line of user code that called it
    line: int | None = None
    function: str | None = None
    callers: tuple[Place, ...] = ()  # the user-code frames that called that line, innermost first
    via: str | None = None  # the library function that made the call; None if user code called it directly
    on: str = ""  # label of its group: "the group of ranks 0 and 2"; empty for the default group
    op: int | None = None  # its number in the rank's trace
    of: int | None = None  # of a wait: the number of the call it waits for
    handle: bool = False  # Python received a handle for it
    thread: str | None = None  # name of the thread; None for the main thread
    peer: int | None = None  # of a message: the other rank; None for any
    tag: int | None = None
    root: int | None = None  # source of a broadcast, destination of a reduce, …
    reduce: str | None = None  # "SUM", …
    tensor: str | None = None  # "float32[2, 3]": must be equal on all ranks
    numel: int | None = None  # number of elements of that tensor
    sends: tuple[int, ...] = ()  # of all_to_all: elements or rows sent to each rank of the group
    takes: tuple[int, ...] = ()  # … and expected from each
    ranks: tuple[int, ...] = ()  # of group creation: the members
    handling: str | None = None  # the exception being handled when it began, as "ValueError: first line"
    raised_at: Place | None = None  # where that exception was raised


@dataclass(slots=True)
class Output:
    """A line printed by a rank, from Python or C++."""

    t: float
    stream: str  # "stdout" or "stderr"
    text: str


@dataclass(frozen=True, slots=True)
class ThreadError:
    """An uncaught exception that ended a thread, but not the process."""

    t: float
    thread: str
    error: str  # as "ValueError: first line"
    place: Place | None


@dataclass(slots=True)
class Rank:
    """Everything recorded about one rank."""

    rank: int
    exit_code: int | None = None  # exit status; None if a signal ended it or if unknown
    signal: str | None = None  # "SIGKILL", … if a signal ended it before the runner did
    output: list[Output] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)  # sorted by begin
    dropped: list[tuple[Span, int]] = field(default_factory=list)  # calls no longer in the trace: example, number
    earlier: list[Span] = field(default_factory=list)  # those around the first difference; their times are unknown
    stuck_at: Place | None = None  # where its main thread was when the deadline passed
    stuck_callers: tuple[Place, ...] = ()  # the user-code frames that called that line, innermost first
    # The same for its other threads: (name, frames).  The name is None if the trace does not have it.
    stuck_threads: list[tuple[str | None, tuple[Place, ...]]] = field(default_factory=list)
    stuck_in: str | None = None  # the function creating a group it was in then: "new_group", …
    leaving: bool = False  # it had left its worker then, and its objects were being destroyed
    error: str | None = None  # the exception it raised, with the traceback through user code
    error_at: Place | None = None  # the innermost line of user code in that traceback
    left_at: Place | None = None  # the line of user code that called sys.exit
    thread_errors: list[ThreadError] = field(default_factory=list)  # uncaught exceptions in threads except the main one
    error_by: str | None = None  # whose code raised: "own", "torch", "Python", …; None if unknown
    error_chain: tuple[str, ...] = ()  # its chained exceptions, direct cause first, as "RuntimeError: first line"
    result: object = None  # what its worker returned; its repr if not JSON-serializable
    started: bool = False  # it reached the common start
    unreported: str | None = None  # why the files show nothing about it, as a predicate, if they cannot
    exited: bool = False  # its process exited by itself
    vanished: bool = False  # its process no longer exists, and recorded no end, as after os._exit or SIGKILL
    ended: float | None = None  # when its worker returned or raised; None if it never did
    last: float = 0.0  # time of the latest event or output in its files

    def calls(self) -> Iterator[Span]:
        """All spans, and those that stand for calls no longer in the trace."""
        yield from self.spans
        yield from (span for span, _ in self.dropped)
        yield from self.earlier


@dataclass(slots=True)
class Trace:
    """A recorded run."""

    directory: Path
    experiment: str
    script: str | None
    parameters: dict
    outcome: str | None  # None if not recorded (still running, or its runner was killed)
    message: str | None  # message of the runner, if any ("Start-up took over 120 s: …")
    backend: str | None
    backend_reason: str | None
    world_size: int
    torch: str | None
    wall_s: float | None
    deadline: float | None
    stopped: float | None  # when the runner killed the remaining ranks; None if it did not need to
    ranks: list[Rank]
    running: bool = False  # the recorded command has not ended
    launcher: str | None = None  # "spawn", "forkserver", "torchrun" or "trace"
    caveat: str | None = None  # a sentence on what its files cannot show
    one_clock: bool = True  # the ranks share a clock, so their times can be compared
    groups: dict[str, tuple[int, ...]] = field(default_factory=dict)  # name in the trace -> ranks, where known

    @property
    def end(self) -> float:
        """The end of the run in seconds, which is the right edge of its timeline."""
        return max([self.stopped or 0.0, *(rank.last for rank in self.ranks)])
