"""README, CONTRIBUTING and "Setting up" promise only what is there."""

import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT

pytestmark = pytest.mark.slow

TEXTS = ["README.md", "CONTRIBUTING.md", "book/setting_up.md"]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / text).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", TEXTS)
def test_every_make_target_that_is_named_exists(text):
    named = set(re.findall(r"\bmake ([a-z]+)\b", "\n".join([*blocks(text, "shell"), *code_words(text)])))
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert named - targets == set()


def code_words(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", (ROOT / text).read_text())


@pytest.mark.parametrize("text", TEXTS)
def test_every_file_that_is_named_exists(text):
    words = " ".join([*code_words(text), *blocks(text, "shell")]).split()
    paths = [word for word in words if re.match(r"(scripts|notebooks|tests|book|benchmarks)/[\w/]+\.\w+$", word)]
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("text", ["README.md", "book/setting_up.md"])
def test_every_experiment_that_is_shown_takes_its_options(text):
    for line in "\n".join(blocks(text, "shell")).splitlines():
        match = re.match(r"python (scripts/\w+\.py)(.*)", line.split("#")[0])
        if match:
            shown = subprocess.run([sys.executable, match[1], "--help"], cwd=ROOT, capture_output=True, text=True)
            assert set(re.findall(r"--[\w-]+", match[2])) <= set(re.findall(r"--[\w-]+", shown.stdout)), line


def test_make_refuses_an_old_python_in_one_sentence(tmp_path):
    old = tmp_path / "python"
    old.write_text("#!/bin/sh\nexit 1\n")  # what the check of the version makes of an old Python
    old.chmod(0o755)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    done = subprocess.run(
        ["make", "--no-print-directory", "book", f"PYTHON={old}", f"VENV={tmp_path}/venv"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert done.stderr.startswith("Barrier Lab needs Python 3.11 or newer")


def test_the_pins_name_no_index_no_hash_and_no_cuda_package():
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = [line.split("#")[0].strip() for line in (ROOT / name).read_text().splitlines()]
        assert all(re.fullmatch(r"[a-z0-9-]+==[\w.]+", line) for line in lines if line)
        assert not any(line.startswith(("nvidia-", "cuda-", "triton")) for line in lines)
