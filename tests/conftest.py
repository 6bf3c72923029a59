"""What all tests share: the book, built once; and in CI, no test may be skipped."""

import os
import shutil
from pathlib import Path

import built_book
import jupyter_client
import pytest
from left_over import assert_nothing_left, marked_environment

ROOT = built_book.ROOT
IN_CI = os.environ.get("CI") == "true"
GIVEN_BOOK = Path(os.environ["BARRIER_LAB_BOOK"]).resolve() if "BARRIER_LAB_BOOK" in os.environ and not IN_CI else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say which tests `make quick` leaves out, beside those that say it themselves."""
    for item in items:
        if {"book", "chromium"} & {*item.fixturenames} or is_of_a_lesson(item):
            item.add_marker("slow")


def is_of_a_lesson(item: pytest.Item) -> bool:
    """Whether a test starts the experiments of a lesson."""
    return (ROOT / "notebooks" / f"{item.path.stem.removeprefix('test_')}.md").exists()


@pytest.fixture(scope="session", autouse=True)
def building(request, tmp_path_factory):
    """Where the book is being built, from the first test on if any test needs it."""
    base = tmp_path_factory.getbasetemp()
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    out = (base.parent if worker else base) / "book"
    needed = any("book" in item.fixturenames for item in request.session.items) and GIVEN_BOOK is None
    started = built_book.start(out) if needed and worker in (None, "gw0") else None
    yield out
    if started:
        started.join()  # other processes may need it


@pytest.fixture(scope="session")
def book(building) -> Path:
    """The folder of the built pages: a full build with every notebook executed.

    While you work on a page, ``BARRIER_LAB_BOOK=_build/html`` takes an existing build; in CI it is not looked at.
    """
    return built_book.pages(building) if GIVEN_BOOK is None else GIVEN_BOOK


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
