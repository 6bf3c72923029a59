"""A temporary folder that all ranks use is there until the last rank ends, and is gone then."""

from pathlib import Path

from barrier_lab import run, run_many


def test_the_folder_is_there_for_the_last_rank_and_gone_after_it():
    found = run("shared_folder", world_size=3, late=0.2, start_method="forkserver")
    folders = {rank.result for rank in found.ranks}
    assert all(found.line(rank, "the folder is there: True") for rank in range(3))
    assert len(folders) == 1 and not Path(*folders).exists()
    assert not Path(f"{folders.pop()}.left").exists()


def test_no_script_leaves_a_folder_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    names = ["checkpoint", "checkpoint_keys", "zero_first_rename", "zero_first_which"]
    run_many([{"experiment": name, "out": tmp_path / "runs" / name} for name in names])
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("tmp")] == []
