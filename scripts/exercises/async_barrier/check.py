"""The check of ``async_barrier``: old text, one barrier each, nobody waits too long, every handle is waited for."""

from barrier_lab.exercises import expect

EDITED = ("worker",)  # by a learner; the rest stays as it is
# How the file is judged as it stands, and what is said of it.
STUB = ("wrong", "")
RUNS = [
    dict(world_size=4, folder=expect.FRESH, deadline=15),
    dict(world_size=3, slow_reader=1, folder=expect.FRESH, deadline=15),
    dict(world_size=3, slow_reader=0, folder=expect.FRESH, deadline=15),
]


def judge(run):
    hint = "Rank 0 may replace the file only when every rank has said that it has read it."
    expect.values(run, "old", hint)
    expect.calls(run, ["barrier"], "Each rank calls barrier once, after it has read.", only=("barrier",))
    ranks = range(1, run.trace.world_size)
    read = max(_sleep(run, rank.rank, "read").end for rank in run.ranks)
    late = [rank for rank in ranks if _sleep(run, rank, "train").begin > read + 0.5]
    late += [rank for rank in ranks if _waited_before_training(run, rank)]
    expect.that(
        not late,
        "no rank to wait before it trains",
        f"rank {late[0]} waited for the slow reader" if late else "",
        hint="A call of barrier need not wait: what does async_op=True return, and when is it needed?",
    )
    replaced, trained = _sleep(run, 0, "replace").begin, min(_sleep(run, rank, "train").end for rank in ranks)
    expect.that(
        replaced < trained,
        "rank 0 to replace the file before the others have trained",
        f"it replaced the file {replaced - trained:.1f} s after the first of them had trained",
        hint="When does a rank know that it has read? That is the moment to call barrier.",
    )
    forgotten = [rank.rank for rank in run.ranks if not _waits(run, rank.rank)]
    expect.that(
        not forgotten,
        "each rank to notice a barrier that has failed",
        f"rank {forgotten[0]} never waits for its handle" if forgotten else "",
        hint="Only handle.wait() raises the error of an asynchronous barrier.",
    )


def _sleep(run, rank: int, function: str):
    """The sleep of a rank in this function; all ranks have one, or the file was changed too much."""
    found = [span for span in run.spans(rank, "sleep") if span.function == function]
    expect.that(
        bool(found),
        f"rank {rank} to call {function}",
        "it did not",
        hint="Leave read, train and replace as they are, and let each rank call what it called before.",
    )
    return found[0]


def _waited_before_training(run, rank: int) -> bool:
    begun = _sleep(run, rank, "train").begin
    return any(span.blocked and span.begin < begun for name in ("barrier", "wait") for span in run.spans(rank, name))


def _waits(run, rank: int) -> bool:
    """A blocking barrier waits, too."""
    return any(span.blocked for name in ("barrier", "wait") for span in run.spans(rank, name))
