"""What is known of a run: one :class:`Trace`, with its ranks, their spans and their output.

Times are seconds from the common start of the ranks (t = 0); what came before is negative.
"""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """A line of source code."""

    file: str
    line: int
    function: str


@dataclass(slots=True)
class Span:
    """One interval on one rank: a collective, a message, the making of a group, a wait for a handle, or a sleep."""

    rank: int
    name: str  # as in Python: "barrier", "all_reduce", "new_group", "wait", "sleep", …
    kind: str  # "collective", "p2p", "group", "wait" or "sleep"
    group: str | None  # "default" or the group's own name; what makes groups has its own name here; None for a sleep
    seq: int | None  # 1 for the rank's first collective on this group; None for sleeps, waits and messages
    begin: float  # seconds from the common start
    end: float | None  # None: it had not ended when the recording stopped
    blocked: bool  # the rank could do nothing else meanwhile
    error: str | None = None  # the exception that ended it, as "RuntimeError: first line"
    file: str | None = None  # where the reader's code called it: the innermost line in a file of theirs
    line: int | None = None
    function: str | None = None
    callers: tuple[Place, ...] = ()  # the reader's frames around that line, innermost first
    via: str | None = None  # the library function that made the call; None if the reader's line called it itself
    on: str = ""  # its group as a reader knows it: "the group of ranks 0 and 2"; nothing for the default group
    op: int | None = None  # its number in the rank's trace
    of: int | None = None  # of a wait: the number of the call that it is for
    handle: bool = False  # Python got a handle of it
    thread: str | None = None  # the name of the thread; None for the main one
    peer: int | None = None  # of a message: the other rank, None for any
    tag: int | None = None
    root: int | None = None  # the rank that a broadcast comes from, that a reduce goes to, …
    reduce: str | None = None  # "SUM", …
    tensor: str | None = None  # "float32[2, 3]": what every rank must bring alike
    numel: int | None = None  # how many elements that is
    sends: tuple[int, ...] = ()  # of all_to_all: how much goes to each rank of the group
    takes: tuple[int, ...] = ()  # … and is expected from each
    ranks: tuple[int, ...] = ()  # of the making of a group: its members
    handling: str | None = None  # the exception that was being handled when it began, as "ValueError: first line"
    raised_at: Place | None = None  # where that one was raised


@dataclass(slots=True)
class Output:
    """One line that a rank, or the C++ below it, printed."""

    t: float
    stream: str  # "stdout" or "stderr"
    text: str


@dataclass(frozen=True, slots=True)
class ThreadError:
    """An exception that nobody caught in a thread, which ended the thread and nothing else."""

    t: float
    thread: str
    error: str  # as "ValueError: first line"
    place: Place | None


@dataclass(slots=True)
class Rank:
    """All that is known of one rank."""

    rank: int
    exit_code: int | None = None  # as the shell would see it for a normal exit; None for a signal or unknown
    signal: str | None = None  # "SIGKILL", … when a signal ended it before the runner did
    output: list[Output] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)  # in order of begin
    stuck_at: Place | None = None  # where its main thread was when the deadline passed
    stuck_callers: tuple[Place, ...] = ()  # the reader's frames around that line, innermost first
    # The same of its other threads, by name, which is None where the trace does not tell it.
    stuck_threads: list[tuple[str | None, tuple[Place, ...]]] = field(default_factory=list)
    stuck_in: str | None = None  # the call there by which ranks make a group together: "new_group", …
    leaving: bool = False  # then it had come out of its worker, and its objects were being destroyed
    error: str | None = None  # what it raised, with the traceback through the experiment's own lines
    error_at: Place | None = None  # the innermost of the reader's lines that it passed through
    left_at: Place | None = None  # the reader's line that left by sys.exit
    thread_errors: list[ThreadError] = field(default_factory=list)  # what ended other threads than the main one
    error_by: str | None = None  # whose code raised: "own", "torch", "Python", …; None where the trace does not say
    error_chain: tuple[str, ...] = ()  # the errors before it, its cause first, as "RuntimeError: first line"
    result: object = None  # what its worker returned, if JSON can hold it
    started: bool = False  # it reached the common start
    exited: bool = False  # its process came to its end by itself
    ended: float | None = None  # when its worker returned or raised; None if it never did
    last: float = 0.0  # the latest moment of which its files speak


@dataclass(slots=True)
class Trace:
    """One run, as its directory tells it."""

    directory: Path
    experiment: str
    script: str | None
    parameters: dict
    outcome: str | None  # None: the directory does not say (still going, or its runner was killed)
    message: str | None  # the runner's own sentence, if it has one ("start-up took over 120 s")
    backend: str | None
    backend_reason: str | None
    world_size: int
    torch: str | None
    wall_s: float | None
    deadline: float | None
    stopped: float | None  # when the runner ended the ranks that were left; None if it had not to
    ranks: list[Rank]
    running: bool = False  # the command that it records has not ended
    one_clock: bool = True  # times of different ranks can be compared
    groups: dict[str, tuple[int, ...]] = field(
        default_factory=dict
    )  # name in the trace -> ranks, as far as it is known

    @property
    def end(self) -> float:
        """The latest moment of the run, in seconds: the right edge of its timeline."""
        return max([self.stopped or 0.0, *(rank.last for rank in self.ranks)])
