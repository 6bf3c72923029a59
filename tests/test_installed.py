"""The wheel in an environment that has torch and rich, and nothing of the book."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Path:
    """The bin folder of a fresh environment with the wheel, and links to torch, rich and what they require."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    offline = ["--no-deps", "--no-build-isolation"]
    shutil.copytree(ROOT / "src", folder / "tree" / "src")  # a build leaves files
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / "tree")
    subprocess.run([*pip, "wheel", *offline, "--wheel-dir", folder / "dist", folder / "tree"], check=True)
    venv.create(folder / "env", with_pip=False, symlinks=True)
    [packages] = (folder / "env" / "lib").glob("python*/site-packages")
    linked: set[str] = set()
    for name in ("torch", "rich"):
        link(name, packages, linked)
    [wheel] = (folder / "dist").glob("barrier_lab-*.whl")
    subprocess.run([*pip, "--python", folder / "env", "install", "--no-deps", "--no-index", wheel], check=True)
    return folder / "env" / "bin"


def link(name: str, packages: Path, linked: set[str]) -> None:
    """Link an installed distribution, and what it requires, into a site-packages folder."""
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in linked:
        return
    linked.add(key)
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:  # required on other platforms only
        return
    for top in {Path(file).parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
        if not (packages / top).exists():
            (packages / top).symlink_to(found.locate_file(top))
    for required in found.requires or ():
        if "extra ==" not in required:
            link(re.match(r"[\w.-]+", required)[0], packages, linked)


def call(environment: Path, folder: Path, *arguments: object) -> subprocess.CompletedProcess:
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    command = [environment / "barrier-lab", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True, check=False, timeout=240)


def test_a_hang_is_recorded_and_shown_without_the_book(environment, tmp_path):
    python = environment / "python"
    done = call(
        environment, tmp_path, "trace", "--out", "hang", "--", python, PROGRAMS / "ends_early.py", "raise", "spawn"
    )
    assert "Rank 1 raised “ValueError: a bad batch”" in done.stdout
    shown = call(environment, tmp_path, "show", "hang")
    assert shown.returncode == 4
    assert "Timeline of ends_early, 2 ranks" in shown.stdout
    assert "Rank 1 raised “ValueError: a bad batch”" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "hang", "--plot", "hang.svg"), "This needs matplotlib: install it, "),
        (("run", "worker.py"), "This needs pydantic: install it, "),
        (("run", "ordering"), "There is no experiment 'ordering': give the path of a .py file."),
        (("check", "ordering"), "There is no exercise 'ordering': choose one of those in the files of the book."),
    ],
)
def test_what_is_not_installed_is_named(environment, tmp_path, arguments, said):
    (tmp_path / "worker.py").write_text("def worker(rank, world_size, *, n: int = 1):\n    pass\n")
    (tmp_path / "hang").mkdir()
    (tmp_path / "hang" / "run.json").write_text('{"schema": 1, "ranks": [], "outcome": "completed", "world_size": 1}')
    done = call(environment, tmp_path, *arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(said), done.stderr
    assert "Traceback" not in done.stderr
