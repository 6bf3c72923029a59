"""A temporary folder that all ranks use is there until the last rank ends, and is gone then."""

from pathlib import Path

import pytest

from barrier_lab import run


@pytest.mark.parametrize("start_method", ["spawn", "forkserver"])
def test_the_folder_is_there_for_the_last_rank_and_gone_after_it(start_method):
    found = run("shared_folder", world_size=3, late=0.2, start_method=start_method)
    folders = {rank.result for rank in found.ranks}
    assert all(found.line(rank, "the folder is there: True") for rank in range(3))
    assert len(folders) == 1 and not Path(*folders).exists()
    assert not Path(f"{folders.pop()}.left").exists()


@pytest.mark.parametrize("name", ["checkpoint", "checkpoint_keys", "zero_first_rename", "zero_first_which"])
def test_a_script_leaves_no_folder_behind(name, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    run(name, start_method="spawn", out=tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("tmp")] == []
