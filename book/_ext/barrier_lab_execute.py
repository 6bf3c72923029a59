"""Notebooks are executed several at a time, before Sphinx reads the pages one after another.

The lessons mostly sleep and wait, so they take little from each other.  A notebook that measures has ``quiet: true``
in its front matter and runs alone, before the others.  Every notebook that Sphinx is about to read runs, in every
build; where MyST-NB would execute one, it gets what came out, and does all the rest as ever.
"""

import os
import time
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from myst_nb.core.execute import direct
from myst_nb.core.read import create_nb_reader
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.display import status_iterator
from traitlets.config import Config

AT_ONCE = "BARRIER_LAB_NOTEBOOKS"  # how many at a time; 1: one after another
MOST = 6  # on any number of cores: a notebook's kernel and ranks together take up to 2 GB

log = logging.getLogger(__name__)


def execute(app: Sphinx, env: BuildEnvironment, pages: list[str]) -> None:
    """Execute all notebooks among the pages, and let MyST-NB take the results."""
    if app.config.nb_execution_mode != "force":
        return
    notebooks = {page: notebook for page in pages if (notebook := read(env, page))}
    quiet = [page for page, notebook in notebooks.items() if notebook.metadata.get("quiet")]
    others = [page for page in notebooks if page not in quiet]
    others.sort(key=lambda page: -len(code(notebooks[page])))  # the long ones first
    began = time.monotonic()
    ran = {}
    for some, at_once in ((quiet, 1), (others, notebooks_at_once())):
        if some:
            ran |= run_all({page: (notebooks[page], options(env, page)) for page in some}, at_once)
    report(app, list(ran.values()), time.monotonic() - began)
    direct.single_nb_execution = lambda notebook, **asked: result(ran.pop(env.docname, None), notebook, asked)


def notebooks_at_once() -> int:
    """Two more than there are cores: many wait at any time."""
    return int(os.environ.get(AT_ONCE) or min((os.cpu_count() or 1) + 2, MOST))


def read(env: BuildEnvironment, page: str) -> NotebookNode | None:
    """The notebook of a page as MyST-NB reads it; None if there is no code in it."""
    path = env.doc2path(page)
    text = Path(path).read_text(encoding="utf-8")
    reader = create_nb_reader(path, env.myst_config, env.mystnb_config, text)
    notebook = reader.read(text) if reader else None
    return notebook if notebook and code(notebook) else None


def code(notebook: NotebookNode) -> list[NotebookNode]:
    """Its code cells."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def options(env: BuildEnvironment, page: str) -> dict:
    """How MyST-NB will ask for the page to be executed."""
    config = env.mystnb_config
    return {
        "cwd": os.path.dirname(env.doc2path(page)),
        "allow_errors": config.execution_allow_errors,
        "timeout": config.execution_timeout,
        "meta_override": True,
    }


def run_all(wanted: dict[str, tuple[NotebookNode, dict]], at_once: int) -> dict[str, Future[ExecutionResult]]:
    """Execute notebooks, some at a time, to the end of the last one."""
    jobs = {}
    with TemporaryDirectory() as folder, ThreadPoolExecutor(at_once) as threads:
        try:
            for page, (notebook, how) in wanted.items():
                # A port that is free when a kernel is started may be taken by a rank of another notebook before the
                # kernel opens it; so the kernels use sockets with names.
                kernel = Config(KernelManager={"transport": "ipc", "ip": f"{folder}/{len(jobs)}"})
                jobs[threads.submit(single_nb_execution, notebook, config=kernel, **how)] = page
            list(status_iterator(as_completed(jobs), "executing notebooks... ", "purple", len(jobs), 0, jobs.get))
        except BaseException:
            stop(threads, list(jobs))
            raise
    return {page: job for job, page in jobs.items()}


def stop(threads: ThreadPoolExecutor, jobs: list[Future]) -> None:
    """The build is interrupted: begin no other notebook, and end the kernels, the only processes below this one."""
    threads.shutdown(wait=False, cancel_futures=True)
    while not all(job.done() for job in jobs):
        for process in psutil.Process().children(recursive=True):
            process.kill()
        time.sleep(0.1)


def result(job: Future[ExecutionResult] | None, notebook: NotebookNode, asked: dict) -> ExecutionResult:
    """What came out of a notebook, written into it; it runs now if that did not, or if the page has changed since."""
    if job is None or [cell.source for cell in job.result().nb.cells] != [cell.source for cell in notebook.cells]:
        return single_nb_execution(notebook, **asked)
    notebook.update(job.result().nb)
    return job.result()


def report(app: Sphinx, jobs: list[Future[ExecutionResult]], wall: float) -> None:
    """Say at the end of the build what was gained."""
    times = [job.result().time for job in jobs if not job.exception()]
    if times:
        ratio = f"{wall:.0f} s; their own times add up to {sum(times):.0f} s ({wall / sum(times):.2f})"
        app.connect("build-finished", lambda app, exception: log.info(f"Notebooks executed: {len(times)}, in {ratio}."))


def setup(app: Sphinx) -> dict:
    """Register with Sphinx, after all who may still change the list of pages."""
    app.connect("env-before-read-docs", execute, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
