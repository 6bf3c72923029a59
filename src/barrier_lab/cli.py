"""Command-line interface: ``main(worker)`` at the end of a script, and ``python -m barrier_lab``."""

import argparse
import errno
import inspect
import json
import os
import shlex
import signal
import sys
from pathlib import Path

from barrier_lab.errors import UsageError
from barrier_lab.rank.current_rank import refuse_in_a_rank
from barrier_lab.script import unused_worker
from barrier_lab.script.options import Parser, given_parameters, script_parser

EXIT = {"completed": 0, "running": 0, "hung": 3, "failed": 4, "interrupted": 130}
WRONG_USE = 2
_OPTIONAL = ("torch", "matplotlib", "pydantic", "rich")  # not needed by every command


def main(worker, *, init: bool = True, world_size: int = 2) -> None:
    """Run the script that defines ``worker``, on new ranks or, under torchrun, as one rank of the job.

    ``init=False``: the worker initializes the process group itself.  ``world_size``: default number of ranks.
    Both are read from the script's source, so they must be literals or module constants.  Exits the process with
    the exit code of the outcome.
    """
    refuse_in_a_rank("main(worker)")
    unused_worker.used()
    path = _script_of(worker, sys._getframe(1).f_code.co_filename)
    if os.environ.get("TORCHELASTIC_RUN_ID") is not None:
        from barrier_lab.rank import torchrun

        sys.exit(_guarded(torchrun.join, path, worker, sys.argv[1:]))
    sys.exit(_guarded(_run_script, path, sys.argv[1:], f"python {sys.argv[0]}"))


def _script_of(worker, caller: str) -> Path:
    """The file that defines ``worker``, which may be decorated, or ``caller`` if a decorator hides it."""
    code = getattr(inspect.unwrap(worker), "__code__", None)
    defined = code is not None and code.co_name == "worker"
    return Path(code.co_filename if defined else caller).resolve()


def package_main(arguments: list[str] | None = None) -> int:
    """Entry point of ``python -m barrier_lab``.  Returns the exit code."""
    return _guarded(_package_main, sys.argv[1:] if arguments is None else arguments)


def _guarded(action, *arguments) -> int:
    """Call ``action``; a usage error prints its message and returns 2, and SIGTERM and SIGHUP act like Ctrl-C."""
    _end_like_ctrl_c()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # ranks may print what the terminal cannot encode
    try:
        return action(*arguments)
    except UsageError as error:
        print(error, file=sys.stderr)
        return WRONG_USE
    except ModuleNotFoundError as error:
        if error.name not in _OPTIONAL:
            raise
        print(f"This needs {error.name}: install it, as by python -m pip install {error.name}.", file=sys.stderr)
        return WRONG_USE
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return EXIT["interrupted"]
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.ENOSPC):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for output still buffered
        if error.errno == errno.EPIPE:  # the reader has closed the pipe, as in "| head"
            return 141
        print("There is no space left for the output or the run directory: make room, then run again.", file=sys.stderr)
        return WRONG_USE


def _end_like_ctrl_c() -> None:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) == signal.SIG_DFL:  # not if ignored, as under nohup
            signal.signal(number, signal.default_int_handler)


def _package_main(arguments: list[str]) -> int:
    parser = Parser(prog="python -m barrier_lab", description="Run, show and check distributed experiments.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    one = commands.add_parser("run", help="run an experiment by name, or a file of your own", add_help=False)
    one.add_argument("experiment")
    show = commands.add_parser("show", help="verdict and timeline of a run directory, finished or not")
    show.add_argument("directories", metavar="DIR", nargs="+", help="a run directory; of several nodes, one of each")
    show.add_argument("--follow", action="store_true", help="keep the screen up to date until the job ends, or Ctrl-C")
    _add_view_options(show)
    checking = commands.add_parser("check", help="check your solution of an exercise")
    checking.add_argument("name", metavar="NAME")
    checking.add_argument("file", metavar="FILE", nargs="?", help="your file (default: the exercise's own)")
    tracing = commands.add_parser("trace", help="run any command, and record the ranks below it")
    tracing.add_argument("--out", metavar="DIR", help="the run directory (default: a new folder, which is printed)")
    stalled = "seconds without progress after which a rank writes its stacks (default 10)"
    tracing.add_argument("--stall", metavar="S", default=10.0, help=stalled)
    tracing.add_argument(
        "--keep", metavar="MB", default=64.0, help="most megabytes for the trace of a rank (default 64)"
    )
    tracing.add_argument("rest", metavar="-- COMMAND", nargs=argparse.REMAINDER)
    shell = commands.add_parser("env", help="the variables under which a cluster's ranks record into DIR")
    shell.add_argument("directory", metavar="DIR")
    lesson = commands.add_parser("new", help="make the files of a new lesson of the book")
    lesson.add_argument("name", metavar="NAME")
    if arguments[:1] == ["run"]:
        known, rest = parser.parse_known_args(arguments)
        from barrier_lab.script import source

        return _run_script(source.find(known.experiment), rest, f"python -m barrier_lab run {known.experiment}")
    given = parser.parse_args(arguments)
    if given.command == "show":
        return _show(given)
    if given.command == "trace":
        return _trace(given)
    if given.command == "env":
        return _env(given)
    if given.command == "new":
        return _new(given)
    from barrier_lab.exercises import check

    return check.main(given.name, given.file)


def _add_view_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plot", metavar="FILE", help="draw the timeline into FILE.svg or FILE.png")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout, and nothing else")


def _run_script(path: Path, arguments: list[str], prog: str) -> int:
    from barrier_lab import api
    from barrier_lab.planning.prepare import OPTIONS, RESERVED
    from barrier_lab.script import source

    about = source.read(path, RESERVED)
    parser = script_parser(prog, about)
    parser.add_argument("--world-size", metavar="N", help=f"ranks to start (default {about.world_size})")
    parser.add_argument("--start-method", default="spawn", help="spawn or forkserver (default spawn)")
    _add_view_options(parser)
    given = parser.parse_args(arguments)
    _check_plot(given.plot)
    from barrier_lab.display import terminal

    options = {name: getattr(given, name) for name in OPTIONS}
    with terminal.watch(quiet=given.json) as (on_line, on_tick):
        finished = api.execute(path, parameters=given_parameters(given), on_line=on_line, on_tick=on_tick, **options)
    return _report(finished, given)


def _show(given: argparse.Namespace) -> int:
    from barrier_lab import api, timeline
    from barrier_lab.display import terminal
    from barrier_lab.trace import attempts

    _check_plot(given.plot)
    *earlier, latest = attempts.attempts(Path(given.directories[0]))
    others = [attempts.attempts(Path(directory))[-1] for directory in given.directories[1:]]
    if given.follow:
        from barrier_lab.display.follow import follow

        finished = follow([latest, *others], api.load)
    else:
        finished = api.load(latest, *others)
    if not given.json:
        for directory in earlier:
            _tell_attempt(directory, len(earlier) + 1)
        if finished.ranks:
            print(timeline.describe(finished.trace), end="\n\n")
    code = _report(finished, given)
    if not given.json and finished.outcome == "completed":
        terminal.show_waits(finished.trace)
    if not given.json and (known := attempts.known_cause(finished.trace, finished.outcome)):
        print(known)
    return code


def _trace(given: argparse.Namespace) -> int:
    """Run a command and return its exit code (128 + n if signal n ended it)."""
    from barrier_lab import api
    from barrier_lab.display import terminal
    from barrier_lab.trace import attempts
    from barrier_lab.tracing import command

    directory, code = command.trace(given.rest[given.rest[:1] == ["--"] :], given.out, given.stall, given.keep)
    latest = attempts.attempts(directory)[-1]
    try:
        finished = api.load(latest)
    except UsageError:
        finished = None
    if finished is None or not finished.ranks:
        print("barrier_lab: no process of this command has made a process group.", file=sys.stderr)
    elif finished.outcome == "completed":
        terminal.show_waits(finished.trace, file=sys.stderr)
    else:
        terminal.conclude(finished)
    return code if code >= 0 else 128 - code


def _env(given: argparse.Namespace) -> int:
    """Print the variables to export where the ranks are started by another launcher, such as a cluster's."""
    from barrier_lab.tracing import command

    for name, value in command.environment(Path(given.directory).absolute(), stall=10.0, keep=64.0).items():
        if name != command.ZERO:  # only valid on this host's clock
            print(f"export {name}={shlex.quote(value)}")
    return 0


def _new(given: argparse.Namespace) -> int:
    """Make a lesson in the working folder, and print what was written."""
    from barrier_lab import new_lesson

    for path in new_lesson.make(given.name, Path.cwd()):
        print(path.relative_to(Path.cwd()))
    return 0


def _tell_attempt(directory: Path, count: int) -> None:
    """Print one line about an attempt before the latest one."""
    from barrier_lab import api
    from barrier_lab.trace import attempts

    try:
        finished = api.load(directory)
        said = f", {finished.outcome}: {finished.verdict}"
    except UsageError:
        said = " recorded nothing."
    print(f"Attempt {attempts.number(directory)} of {count}{said}", end="\n\n")


def _check_plot(plot: str | None) -> None:
    """Raise ``UsageError`` for a plot that cannot be written, before the run starts."""
    if plot is None:
        return
    path = Path(plot)
    if path.suffix not in (".svg", ".png"):
        raise UsageError(f"The plot cannot be {plot!r}: give a file name that ends in .svg or .png.")
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)) or path.is_dir():
        raise UsageError(f"The plot {plot} cannot be written: give a file in a folder that you may write.")


def _report(finished, given: argparse.Namespace) -> int:
    from barrier_lab.display import terminal

    if given.plot:
        from barrier_lab import timeline

        if not finished.ranks:
            raise UsageError("There is nothing to draw: no process has made a process group.")
        timeline.save(finished.trace, Path(given.plot))
    if given.json:
        # Buffered even under PYTHONUNBUFFERED, where Python loses the rest of a long text after a partial write.
        with open(sys.stdout.fileno(), "w", encoding="utf-8", closefd=False) as whole:
            print(json.dumps(finished.to_dict()), file=whole)
    else:
        terminal.conclude(finished)
    return EXIT[finished.outcome]
