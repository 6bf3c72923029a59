"""The book that tests look at: built once, beside the other tests."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from barrier_lab.rank import lifeline

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 1500.0  # seconds for the build
CODE, LOG = "exit_code", "build.log"


def start(out: Path) -> threading.Thread:
    """Begin to build as ``make book`` does, into a new folder.  The build ends with the process that started it."""
    out.mkdir()
    tool = Path(sys.executable).with_name("jupyter-book")
    command = [tool, "build", ROOT, "--path-output", out, "--all", "-W", "-n", "--keep-going"]
    # Under PYTEST_CURRENT_TEST the notebook kernel does not capture what processes below it print.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    with (out / LOG).open("w") as log:
        building = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lifeline.die_with_parent,
        )
    waiting = threading.Thread(target=_wait, args=(building, out), daemon=True)
    waiting.start()
    return waiting


def _wait(building: subprocess.Popen, out: Path) -> None:
    """Write the exit code down for all processes that wait for the book."""
    try:
        code = building.wait(LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(building.pid, signal.SIGKILL)
        code = building.wait()
    (out / "exit_code.new").write_text(str(code))
    (out / "exit_code.new").rename(out / CODE)


def pages(out: Path) -> Path:
    """The folder of the built pages, once they are there.  ``AssertionError`` with the log if the build failed."""
    limit = time.monotonic() + LIMIT + 60
    while not (out / CODE).exists() and time.monotonic() < limit:
        time.sleep(0.2)
    code = (out / CODE).read_text() if (out / CODE).exists() else "none"
    assert code == "0", f"The book does not build (exit code {code}):\n{(out / LOG).read_text()[-6000:]}"
    return out / "_build" / "html"
