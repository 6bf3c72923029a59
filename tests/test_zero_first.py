"""The lesson ``zero_first``: one rank prepares a data set, the others find it ready."""

import textwrap
from pathlib import Path

import pytest

from barrier_lab import Run, check, run, run_many

EXERCISES = Path(__file__).parent.parent / "scripts" / "exercises"
AT_ONCE = 5  # runs of 4 ranks each

GUARD, TROUBLE, HALF, WHICH = "zero_first", "zero_first_trouble", "zero_first_rename", "zero_first_which"
IN_A_FOLDER = {
    "with": dict(experiment=GUARD),
    "together": dict(experiment=GUARD, barrier=False),
    "later": dict(experiment=GUARD, barrier=False, late=1.5),
    "later, with": dict(experiment=GUARD, late=1.5),
    "too long": dict(experiment=GUARD, timeout=1.0),
    "half": dict(experiment=HALF),
    "no file": dict(experiment=HALF, rename=True),
    "whole": dict(experiment=HALF, rename=True, dies=False),
    "rank": dict(experiment=WHICH, variable="rank"),
    "local_rank": dict(experiment=WHICH, variable="local_rank"),
    "rank, one disk": dict(experiment=WHICH, variable="rank", one_disk=True),
    "local_rank, one disk": dict(experiment=WHICH, variable="local_rank", one_disk=True),
    "minus_one": dict(experiment=WHICH, variable="minus_one", one_disk=True),
    "zero": dict(experiment=WHICH, variable="zero", one_disk=True),
    "text": dict(experiment=WHICH, variable="text", one_disk=True),
    "too early": dict(experiment=WHICH, variable="rank", one_disk=True, group=False),
}
OTHERS = {
    "caught": dict(experiment=TROUBLE, use_finally=False, caught=True, deadline=4),
    "caught, finally": dict(experiment=TROUBLE, caught=True),
    "raises": dict(experiment=TROUBLE, use_finally=False),
    "raises, finally": dict(experiment=TROUBLE),
    "collective": dict(experiment="zero_first_collective", deadline=3),
    "told": dict(experiment="zero_first_told"),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, Run]:
    """All variants, each with a folder of its own, a few of them at once."""
    variants = {k: v | dict(folder=str(tmp_path_factory.mktemp("fresh"))) for k, v in IN_A_FOLDER.items()} | OTHERS
    names, finished = list(variants), []
    for i in range(0, len(names), AT_ONCE):
        finished += run_many([variants[name] for name in names[i : i + AT_ONCE]])
    return dict(zip(names, finished, strict=True))


def prepared_by(finished: Run) -> list[int]:
    return sorted(rank for rank, line in finished.lines() if "prepares" in line.text)


def rows(finished: Run) -> list[int]:
    return [int(finished.line(rank, "reads").text.split()[1]) for rank in range(4)]


def test_rank_zero_prepares_and_all_ranks_read_the_whole_file(runs) -> None:
    assert runs["with"].outcome == "completed"
    assert prepared_by(runs["with"]) == [0]
    assert rows(runs["with"]) == [1000] * 4


def test_no_rank_leaves_the_barrier_before_rank_zero_calls_it(runs) -> None:
    (first,), *others = [runs["with"].spans(rank, "barrier") for rank in range(4)]
    assert all(call.end > first.begin for (call,) in others)
    assert all(call.line != first.line for (call,) in others)


def test_ranks_agree_on_a_fresh_folder_when_none_is_given() -> None:
    for _ in range(2):
        assert prepared_by(run(GUARD, start_method="forkserver")) == [0]


def test_without_the_barrier_ranks_that_come_together_all_prepare(runs) -> None:
    assert prepared_by(runs["together"]) == [0, 1, 2, 3]
    assert max(rows(runs["together"])) == 4000


def test_without_the_barrier_ranks_that_come_later_read_half_a_file(runs) -> None:
    assert prepared_by(runs["later"]) == [0]
    assert rows(runs["later"]) == [1000, 500, 500, 500]


def test_with_the_barrier_ranks_that_come_later_read_the_whole_file(runs) -> None:
    assert prepared_by(runs["later, with"]) == [0]
    assert rows(runs["later, with"]) == [1000] * 4


def test_a_preparation_longer_than_the_time_out_fails_the_ranks_that_wait(runs) -> None:
    assert runs["too long"].outcome == "failed"
    assert any("Timed out" in (rank.error or "") for rank in runs["too long"].ranks[1:])


def test_without_finally_a_caught_exception_shifts_all_later_calls(runs) -> None:
    last = [runs["caught"].spans(rank)[-1].name for rank in range(4)]
    assert runs["caught"].outcome == "hung"
    assert last == ["all_reduce", "barrier", "barrier", "barrier"]


def test_without_finally_rank_zero_releases_the_others_by_its_barrier_before_the_training(runs) -> None:
    first, *others = [runs["caught"].spans(rank, "barrier")[0] for rank in range(4)]
    assert all(call.line != first.line for call in others)
    assert all(call.begin < first.begin < call.end for call in others)


def test_with_finally_a_caught_exception_leaves_the_calls_in_step(runs) -> None:
    assert runs["caught, finally"].outcome == "completed"
    assert all(runs["caught, finally"].line(rank, "has done a step") for rank in range(4))


@pytest.mark.parametrize(("name", "released"), [("raises", False), ("raises, finally", True)])
def test_an_exception_that_nobody_catches_fails_every_rank_with_or_without_finally(runs, name, released) -> None:
    ran = [any("has run the block" in line.text for line in rank.output) for rank in runs[name].ranks]
    assert runs[name].outcome == "failed"
    assert all(rank.error for rank in runs[name].ranks)
    assert "OSError" in runs[name].ranks[0].error
    assert ran == [False, released, released, released]


def test_a_collective_in_the_block_stalls_all_ranks(runs) -> None:
    assert runs["collective"].outcome == "hung"
    assert all(runs["collective"].spans(rank)[0].end is None for rank in range(4))


def test_a_preparation_that_dies_leaves_half_a_file_unless_it_was_to_be_renamed(runs) -> None:
    assert all(runs["half"].line(rank, "finds 500 rows") for rank in (1, 2, 3))
    assert all(runs["no file"].line(rank, "finds no file") for rank in (1, 2, 3))


def test_a_file_renamed_when_whole_is_found_whole(runs) -> None:
    assert all(runs["whole"].line(rank, "finds 1000 rows") for rank in range(4))


def test_a_broadcast_tells_every_rank_why_the_preparation_failed(runs) -> None:
    assert runs["told"].outcome == "completed"
    assert all("no space left" in runs["told"].line(rank, "rank 0 failed").text for rank in range(4))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rank", [0, 2, 3]),
        ("local_rank", [0, 2]),
        ("rank, one disk", [0]),
        ("local_rank, one disk", [0, 2]),
        ("minus_one", [0, 1, 2, 3]),
        ("zero", [0, 1, 2, 3]),
        ("text", [0, 1, 2, 3]),
        ("too early", [0, 1, 2, 3]),
    ],
)
def test_the_rank_variable_and_the_disks_decide_who_prepares(runs, name, expected) -> None:
    assert runs[name].outcome == "completed"
    assert prepared_by(runs[name]) == expected


def mine(folder: Path, zero_first: str) -> Path:
    """A file with this body of zero_first, and the rest as in the stub."""
    stub = (EXERCISES / "zero_first.py").read_text()
    head, rest = stub.split("    if rank == 0:\n", 1)
    answer = folder / "mine.py"
    answer.write_text(
        head + textwrap.indent(textwrap.dedent(zero_first), "    ") + rest[rest.index("\n\ndef prepare") :]
    )
    return answer


def test_an_answer_without_finally_hangs_and_both_lines_are_named(tmp_path: Path) -> None:
    answer = """
        if rank != 0:
            dist.barrier()
        yield
        if rank == 0:
            dist.barrier()
        """
    result = check("zero_first", mine(tmp_path, answer))
    assert result.outcome == "hang"
    assert "dist.all_reduce(total)" in result.details
    assert "dist.barrier()" in result.details


def test_an_answer_that_tells_the_cause_only_after_the_block_is_wrong(tmp_path: Path) -> None:
    answer = """
        cause = [""]
        if rank != 0:
            dist.barrier()
        try:
            yield
        except OSError as error:
            cause = [repr(error)]
            raise
        finally:
            if rank == 0:
                dist.barrier()
            dist.broadcast_object_list(cause)
        if cause[0]:
            raise RuntimeError(cause[0])
        """
    assert check("zero_first", mine(tmp_path, answer)).outcome == "wrong"
