"""What all tests share: the book, built once; and in CI, no test may be skipped."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import jupyter_client
import pytest
from left_over import assert_nothing_left, marked_environment

from barrier_lab.rank import lifeline

ROOT = Path(__file__).resolve().parent.parent
IN_CI = os.environ.get("CI") == "true"


@pytest.fixture(scope="session")
def book(tmp_path_factory) -> Path:
    """The folder of the built pages: a full build with every notebook executed.

    While you work on a page, ``BARRIER_LAB_BOOK=_build/html`` takes an existing build; in CI it is not looked at.
    """
    if "BARRIER_LAB_BOOK" in os.environ and not IN_CI:
        return Path(os.environ["BARRIER_LAB_BOOK"]).resolve()
    out = tmp_path_factory.mktemp("book")
    log, code = build(out)
    assert code == 0, f"The book does not build:\n{log[-6000:]}"
    return out / "_build" / "html"


def build(out: Path, limit: float = 1200.0) -> tuple[str, int]:
    """Build as ``make book`` does, into ``out``: what it printed, and its exit code."""
    tool = Path(sys.executable).with_name("jupyter-book")
    command = [tool, "build", ROOT, "--path-output", out, "--all", "-W", "-n", "--keep-going"]
    # Under PYTEST_CURRENT_TEST the notebook kernel does not capture what processes below it print.
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
    with (out / "build.log").open("w+") as log:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lifeline.die_with_parent,
        )
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = 124
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        log.seek(0)
        return log.read(), code


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        pytest.skip("There is no Chromium on this machine; with Debian's package chromium the pages are tested too.")
    return found


@pytest.fixture
def kernel():
    """A notebook kernel: its manager, a client and its environment.  Nothing is left of it afterwards."""
    environment = marked_environment()
    manager, client = jupyter_client.manager.start_new_kernel(env=environment)
    yield manager, client, environment
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    assert_nothing_left(environment)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """In CI a skipped test is a failed one; an expected failure is not."""
    outcome = yield
    report = outcome.get_result()
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"With CI=true nothing may be skipped. {call.excinfo.value if call.excinfo else ''}"


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    """The same for a whole file that skips itself."""
    outcome = yield
    report = outcome.get_result()
    if IN_CI and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"With CI=true nothing may be skipped: {report.longrepr}"
