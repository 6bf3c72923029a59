"""Lesson ``zero_first``: what its page does not run, and wrong answers of its exercise."""

import textwrap
from pathlib import Path

from barrier_lab import check, run, run_many
from barrier_lab.exercises.check import EXERCISES


def test_ranks_agree_on_a_fresh_folder_when_none_is_given() -> None:
    for found in run_many([{"experiment": "zero_first", "world_size": 2}] * 2):
        assert [rank for rank, line in found.lines() if "prepares" in line.text] == [0]


def test_a_file_renamed_when_whole_is_found_whole() -> None:
    found = run("zero_first_rename", world_size=2, rename=True, dies=False, start_method="forkserver")
    assert all(found.line(rank, "finds 1000 rows") for rank in (0, 1))


def mine(folder: Path, zero_first: str) -> Path:
    """A file with this body of zero_first, and the rest as in the stub."""
    stub = (EXERCISES / "zero_first" / "zero_first.py").read_text()
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
    result = check("zero_first", mine(tmp_path, answer))
    assert result.outcome == "wrong"
    assert "A barrier carries no value" in result.details
