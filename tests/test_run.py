"""``run`` and ``run_many`` from Python: what the worker gets, what the ``Run`` holds."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from barrier_lab import run, run_many

PROGRAMS = Path(__file__).parent / "programs"
TELLS = PROGRAMS / "tells.py"
MEETS = PROGRAMS / "meets.py"
SHAPES = PROGRAMS / "shapes.py"


def told(**options) -> list[dict]:
    done = run(TELLS, **{"start_method": "forkserver"} | options)
    assert done.outcome == "completed", done.verdict
    return [rank.result for rank in done.ranks]


def test_parameters_arrive_with_their_types() -> None:
    given = told(n="3", x=2, flag="yes", word="été", way="b", some="[1, 2]", maybe="None")[0]["given"]
    assert given == [3, 2.0, True, "été", "b", [1, 2], None]
    with pytest.raises(ValueError, match="'way' of tells cannot be 'c'"):
        run(TELLS, way="c")


def test_each_rank_knows_rank_world_size_and_local_rank() -> None:
    ranks = told(world_size=3)
    assert [(r["rank"], r["world_size"], r["local_rank"]) for r in ranks] == [(0, 3, "0"), (1, 3, "1"), (2, 3, "2")]
    assert {r["name"] for r in ranks} == {"tells"}


def test_variables_set_later_reach_the_ranks_of_a_running_forkserver(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told()[0]["variable"] is None
    monkeypatch.setenv("TELL_ME", "now")
    monkeypatch.setenv("TORCH_TELL_ME", "too")
    assert (told()[0]["variable"], told()[0]["torch_variable"]) == ("now", "too")
    monkeypatch.delenv("TELL_ME")
    assert told()[0]["variable"] is None


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_ranks_use_one_thread_each_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert {rank["threads"] for rank in told(start_method=method)} == {1}
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert {rank["threads"] for rank in told(start_method=method)} == {2}


def test_output_of_python_and_of_what_lies_below_it_is_kept_with_its_stream() -> None:
    done = run(TELLS, start_method="forkserver")
    for rank in done.ranks:
        assert sorted((line.stream, line.text) for line in rank.output) == [
            ("stderr", "err"), ("stdout", "from below Python"), ("stdout", "out"),
        ]  # fmt: skip
    assert done.line(1, "below").t > 0
    with pytest.raises(LookupError, match="rank 1 printed no line with 'above'"):
        done.line(1, "above")


def test_run_many_runs_variants_at_once_and_keeps_their_order(tmp_path: Path) -> None:
    variants = [{"experiment": MEETS, "folder": str(tmp_path), "name": name, "runs": 3} for name in "bca"]
    runs = run_many(variants)  # each waits until all are there
    assert [done.trace.parameters["name"] for done in runs] == ["b", "c", "a"]
    assert {done.outcome for done in runs} == {"completed"}


def test_a_variant_takes_each_argument_of_run(tmp_path: Path) -> None:
    options = {"world_size": 3, "backend": "gloo", "deadline": 50, "timeout": 40, "start_method": "spawn"}
    (done,) = run_many([{"name_or_path": TELLS, "out": tmp_path / "run", "n": 7} | options])
    assert done.directory == tmp_path / "run"
    assert (done.trace.world_size, done.trace.deadline, done.ranks[2].result["given"][0]) == (3, 50, 7)


def test_nothing_starts_if_one_variant_is_wrong(tmp_path: Path) -> None:
    right = {"experiment": TELLS, "out": tmp_path / "run"}
    for wrong, sentence in [
        ({"experiment": TELLS, "plot": "x.svg"}, "no parameter 'plot'"),
        ({"experiment": TELLS, "start_method": "fork"}, "start method 'fork' is not known"),
        ({"experiment": TELLS, "name_or_path": TELLS}, "names no experiment, or two"),
        ("ordering", "cannot be 'ordering'"),
        (right, "named by two variants"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            run_many([right, wrong])
        assert not list((tmp_path / "run").iterdir())


def test_a_variant_whose_file_cannot_be_imported_ends_the_others_at_once(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("def worker(rank, world_size): pass\n1 / 0\n")
    began = time.monotonic()
    with pytest.raises(ValueError, match="could not be imported"):
        run_many([{"experiment": "ordering", "pause": 600, "deadline": 900}, {"experiment": broken}])
    assert time.monotonic() - began < 600


def test_an_edited_file_runs_as_edited(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    for word in ("first", "second"):
        mine.write_text(f"def worker(rank, world_size):\n    return {word!r}\n")
        assert run(mine, start_method="forkserver").ranks[0].result == word


def test_the_run_directory_lives_as_long_as_the_run_or_where_it_was_asked_for(tmp_path: Path) -> None:
    done = run("ordering", start_method="forkserver")
    kept = run("ordering", start_method="forkserver", out=tmp_path / "kept")
    folder = done.directory
    assert (folder / "run.json").exists()
    del done
    assert not folder.exists()
    assert {"run.json", "rank0.trace.json", "rank0.log", "rank0.stack"} <= set(os.listdir(kept.directory))


def test_a_run_shows_itself_as_html_and_as_text() -> None:
    done = run("ordering", start_method="forkserver")
    shown = done._repr_mimebundle_()
    assert "<svg" in shown["text/html"] and done.verdict in shown["text/plain"]
    assert "second before" in shown["text/html"] and "second before" in str(done)


def test_a_start_up_that_takes_too_long_is_a_failure_with_its_own_sentence(tmp_path, monkeypatch) -> None:
    from barrier_lab.rank import common_start

    monkeypatch.setattr(common_start, "STARTUP_LIMIT", 2.0)
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(1000)\ndef worker(rank, world_size): pass\n")
    done = run(slow, start_method="forkserver")
    assert done.outcome == "failed"
    assert "Start-up took over 2 s" in done.verdict


def test_an_init_that_nobody_joins_is_a_failure_not_a_hang_for_ever(tmp_path: Path) -> None:
    lonely = tmp_path / "lonely.py"
    lonely.write_text(
        "import os, torch.distributed as dist\nfrom barrier_lab import main\n"
        "def worker(rank, world_size):\n    if rank == 0:\n        dist.init_process_group('gloo')\n"
        "if __name__ == '__main__':\n    main(worker, init=False)\n"
    )
    done = run(lonely, start_method="forkserver", deadline=2)
    assert done.outcome == "hung"
    assert done.ranks[0].stuck_at.line == 5


def test_when_a_run_was_stopped_is_measured(tmp_path: Path) -> None:
    done = run(SHAPES, how="wait_for_ever", deadline=1, start_method="forkserver")
    assert done.outcome == "hung"
    assert done.trace.stopped > 1  # not the deadline itself


def test_a_worker_whose_decorator_hides_it_runs(tmp_path: Path) -> None:
    script = tmp_path / "hidden.py"
    script.write_text(
        "import torch\nfrom barrier_lab import main\nRANKS = 3\n"
        "@torch.no_grad()\ndef worker(rank, world_size, *, n: int = 1):\n    print(world_size, n)\n"
        "if __name__ == '__main__':\n    main(worker, world_size=RANKS)\n"
    )
    done = subprocess.run([sys.executable, script, "--n", "5"], capture_output=True, text=True, check=False)
    assert done.stdout.count("| 3 5") == 3, done
