"""Record how a worker ended: its result, exit code, or exception with the traceback through user code."""

import contextlib
import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from barrier_lab.frames import PACKAGE, is_own, owner

MOST_LINES = 90  # kept of a traceback
LONGEST = 2000  # characters kept of a line in it
_PACKAGE = Path(PACKAGE)


def record_result(recorder, result: object) -> None:
    """Record the worker's return value, or its repr if it is not JSON-serializable."""
    if result is None:
        return
    try:
        json.dumps(result)
        recorder.mark("result", "meta", value=result)
    except Exception:  # TypeError, RecursionError, …
        recorder.mark("result", "meta", value=_described(result))


def _described(value: object, how: Callable[[object], str] = repr) -> str:
    """Convert a value to text, even if its own methods fail."""
    try:
        return how(value)
    except Exception:
        return f"<{type(value).__name__}>"


def complain(text: object) -> None:
    """Print to standard error, which the experiment may have closed."""
    with contextlib.suppress(Exception):
        print(text, file=sys.stderr)


def exit_code(request: SystemExit) -> int:
    """The exit code requested by ``sys.exit``.  Other objects are printed and give 1, as in Python."""
    if request.code is None or isinstance(request.code, int):
        return request.code or 0
    complain(request.code)
    return 1


def _own_frames(error: BaseException, script: Path) -> traceback.StackSummary:
    """The traceback from the experiment's first frame on, without frames of this package."""
    frames = traceback.extract_tb(error.__traceback__)
    own = (frame.filename == str(script) for frame in frames)
    first = next((i for i, mine in enumerate(own) if mine), None)
    if first is None:  # the script has no frame, as under python -m
        first = next((i for i, frame in enumerate(frames) if is_own(frame.filename)), len(frames))
    return traceback.StackSummary.from_list(f for f in frames[first:] if not Path(f.filename).is_relative_to(_PACKAGE))


def own_traceback(error: BaseException, script: Path) -> str:
    """The traceback as text, from the experiment's first frame on."""
    frames = _own_frames(error, script)
    lines = ["Traceback (most recent call last):\n", *frames.format()] if frames else []
    return shortened("".join([*lines, *_named(error)]).rstrip())


def _named(error: BaseException) -> list[str]:
    """Format the exception itself, even if its methods fail."""
    try:
        return traceback.format_exception_only(error)
    except Exception:
        return [f"{type(error).__name__}\n"]


def shortened(text: str) -> str:
    """Omit the middle of a long text: the end of a traceback shows what happened, the beginning where it came from."""
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        gap = f"  [{len(lines) - MOST_LINES} lines are left out here]"
        lines = [*lines[: MOST_LINES // 3], gap, *lines[len(lines) - 2 * MOST_LINES // 3 :]]
    return "\n".join(line if len(line) <= LONGEST else f"{line[:LONGEST]} [cut]" for line in lines)


def record_error(recorder, script: Path, error: BaseException) -> None:
    """Record the exception raised by the worker, with its line of user code, the code that raised it, and its chain."""
    own = [frame for frame in _own_frames(error, script) if is_own(frame.filename)]
    place = {"file": own[-1].filename, "line": own[-1].lineno, "function": own[-1].name} if own else {}
    recorder.mark(
        type(error).__name__,
        "error",
        message=_described(error, str),
        traceback=own_traceback(error, script),
        raised_by=_raised_by(error),
        chain=[_one_line(each) for each in _chain(error)],
        **place,
    )


def record_leaving(recorder, request: SystemExit) -> None:
    """Record the line of user code that called ``sys.exit``."""
    own = [frame for frame in traceback.extract_tb(request.__traceback__) if is_own(frame.filename)]
    if own:
        recorder.mark("leave", "leave", file=own[-1].filename, line=own[-1].lineno, function=own[-1].name)


def _raised_by(error: BaseException) -> str:
    """Whose code raised: "own" for user code, else the package ("torch", "Python", …)."""
    frames = traceback.extract_tb(error.__traceback__)
    return (owner(frames[-1].filename) if frames else None) or "own"


def _chain(error: BaseException) -> list[BaseException]:
    """The chained exceptions: the cause or context of this one, then that exception's, and so on."""
    found: list[BaseException] = []
    while (before := error.__cause__ or error.__context__) is not None and before not in found and len(found) < 10:
        found.append(before)
        error = before
    return found


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {_described(error, str).strip()}".splitlines()[0]


def one_line(error: BaseException, script: Path) -> str:
    """The exception and its line in the script, for the runner's message."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(script)]
    line = f"line {own[-1].lineno}: " if own else ""
    return f"{line}{traceback.format_exception_only(error)[-1].strip()}"
