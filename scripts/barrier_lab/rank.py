"""Inside a rank: everything between the start of its process and the experiment's own code.

Nothing heavy is imported before the lifeline holds: a rank whose runner dies during start-up must die as well.
"""

import atexit
import contextlib
import faulthandler
import importlib.util
import json
import os
import platform
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import ModuleType

from barrier_lab import lifeline, output
from barrier_lab.errors import UsageError

HEAD_START = 0.02  # seconds between naming t = 0 and t = 0: ranks learn of it up to some milliseconds apart
_PACKAGE = Path(__file__).parent
STARTUP_LIMIT = 120.0  # seconds until every rank must have reached t = 0
here: int | None = None  # the rank that this process is


def main(plan: dict, rank: int, lifeline_end, stdout_end, stderr_end) -> None:
    """The target of the process that ``launch`` starts: run one rank of the plan."""
    global here
    lifeline.hold_on(lifeline_end.fileno())
    here = rank
    os.environ.clear()
    os.environ.update(plan["environ"])
    os.environ.update(torchrun_variables(plan, rank))
    _redirect(stdout_end.fileno(), stderr_end.fileno())
    tell = _Teller(stdout_end.fileno())
    code = run_worker(plan, rank, tell)
    if plan["start_method"] == "forkserver":  # whose children leave without what atexit holds
        atexit._run_exitfuncs()
    sys.exit(code)


def refuse_in_a_rank(call: str) -> None:
    """``UsageError`` in a rank: if ranks started ranks, which import the same file, there would be no end of them."""
    if here is not None:
        raise UsageError(f'{call} was called in rank {here}: put it below if __name__ == "__main__":')


def torchrun_variables(plan: dict, rank: int) -> dict[str, str]:
    """The environment that torchrun would give this rank."""
    size = str(plan["world_size"])
    return {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": size,
        "LOCAL_WORLD_SIZE": size,
        "GROUP_RANK": "0",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(plan["port"]),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }


class _Teller:
    """Tells the runner how far this rank has come; under torchrun nobody listens."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    def __call__(self, word: str, detail: str = "") -> None:
        if self._descriptor is not None:
            output.note(self._descriptor, f"{word} {detail}")


def _redirect(stdout: int, stderr: int) -> None:
    """Send what Python and the C++ below it print through the runner's pipes."""
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    sys.stdout = output.Lines(1, output.to_pipe(1))
    sys.stderr = output.Lines(2, output.to_pipe(2))


def run_worker(plan: dict, rank: int, tell: _Teller, worker=None) -> int:
    """Join the others, start together, call the worker, record it all.  Returns the exit code."""
    from barrier_lab.recording import recorder as recording

    directory = Path(plan["directory"])
    script = Path(plan["script"])
    recorder = recording.open_trace(directory / f"rank{rank}.trace.json", rank)
    stack = (directory / f"rank{rank}.stack").open("w")
    faulthandler.enable(file=sys.__stderr__)
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR1, file=stack, all_threads=True)
    recorder.mark("rank", "meta", **_about(plan, rank))
    _take_threads()
    from barrier_lab.recording import hooks

    hooks.install(recorder, script)
    if worker is None:
        try:
            worker = _load(script).worker
        except BaseException as error:
            _record_error(recorder, script, error)
            tell("import", _one_line(error, script))
            return 1
    try:
        if plan["init"]:
            _join_group(plan)
        _start_together(plan, recorder, tell)
        hooks.start()
        faulthandler.dump_traceback_later(plan["deadline"], exit=False, file=stack)
        try:
            result = worker(rank, plan["world_size"], **plan["parameters"])
        except SystemExit:  # leaves no end: the worker did not get there
            raise
        except BaseException:
            recorder.mark("end", "meta")
            raise
        finally:
            hooks.stop()
            faulthandler.cancel_dump_traceback_later()
        recorder.mark("end", "meta")
        _record_result(recorder, result)
        _leave_group(plan)
    except SystemExit as request:
        return _exit_code(request)
    except BaseException as error:
        _record_error(recorder, script, error)
        output.flush(sys.stdout)
        _complain(_own_traceback(error, script))
        return 1
    finally:
        output.flush(sys.stdout, sys.stderr)
    return 0


def _about(plan: dict, rank: int) -> dict:
    import torch

    kept = ("world_size", "experiment", "script", "parameters", "backend", "backend_reason", "deadline", "timeout")
    return {key: plan[key] for key in kept} | {
        "schema": 1,
        "rank": rank,
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "host": socket.gethostname(),
        "os_pid": os.getpid(),
        "launcher": plan["launcher"],
    }


def _take_threads() -> None:
    """Use as many threads as the environment says: a forkserver's torch was imported under another one."""
    import torch

    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdigit() and int(threads) > 0:
        torch.set_num_threads(int(threads))


def _load(script: Path) -> ModuleType:
    """Import the experiment once, under its own name, with its folder on the path, as ``python`` would."""
    name = script.stem if script.stem not in sys.modules else f"experiment_{script.stem}"
    if str(script.parent) not in sys.path:
        sys.path.insert(0, str(script.parent))
    spec = importlib.util.spec_from_file_location(name, script)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _join_group(plan: dict) -> None:
    """Make the process group, as a training script does under torchrun."""
    import torch
    import torch.distributed as dist

    options = {} if plan["timeout"] is None else {"timeout": timedelta(seconds=plan["timeout"])}
    if plan["backend"] == "nccl":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
        options["device_id"] = device
    dist.init_process_group(plan["backend"], **options)


def _leave_group(plan: dict) -> None:
    import torch.distributed as dist

    if plan["init"] and dist.is_initialized():
        dist.destroy_process_group()


def _start_together(plan: dict, recorder, tell: _Teller) -> None:
    """Wait until every rank is here, then until the moment that rank 0 names: t = 0."""
    start_ns = _agree_on_start() if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True" else time.monotonic_ns()
    while (left := start_ns - time.monotonic_ns()) > 0:
        time.sleep(left / 1e9 if left > 2_000_000 else 0)
    recorder.mark("start", "meta", at=start_ns)
    tell("start", str(start_ns))


def _agree_on_start() -> int:
    """Meet at the launcher's store; rank 0 names a moment on CLOCK_MONOTONIC, which ranks on one host share."""
    import torch.distributed as dist

    limit = timedelta(seconds=STARTUP_LIMIT)
    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    tcp = dist.TCPStore(host, port, is_master=False, timeout=limit)
    store = dist.PrefixStore(f"barrier_lab/{os.environ.get('TORCHELASTIC_RUN_ID', '')}/{attempt}", tcp)
    size = int(os.environ["WORLD_SIZE"])
    if store.add("here", 1) == size:
        store.set("everybody", "")
    store.wait(["everybody"], limit)
    if size != int(os.environ["LOCAL_WORLD_SIZE"]):
        return time.monotonic_ns()  # several hosts share no clock: t = 0 is accurate to a message only
    if os.environ["RANK"] == "0":
        store.set("start", str(time.monotonic_ns() + int(HEAD_START * 1e9)))
    return int(store.get("start"))


def _record_result(recorder, result: object) -> None:
    """Keep what the worker returned, if JSON can hold it."""
    if result is None:
        return
    try:
        json.dumps(result)
        recorder.mark("result", "meta", value=result)
    except Exception:  # TypeError, RecursionError, …
        recorder.mark("result", "meta", value=_described(result))


def _described(value: object, how: Callable[[object], str] = repr) -> str:
    """A value of the experiment in words; its own methods may fail."""
    try:
        return how(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _complain(text: object) -> None:
    """Print on standard error, which the experiment may have closed."""
    with contextlib.suppress(Exception):
        print(text, file=sys.stderr)


def _exit_code(request: SystemExit) -> int:
    if request.code is None or isinstance(request.code, int):
        return request.code or 0
    _complain(request.code)
    return 1


def _own_frames(error: BaseException, script: Path) -> traceback.StackSummary:
    """The traceback from the experiment's first frame on, without this package's own frames."""
    frames = traceback.extract_tb(error.__traceback__)
    first = next((i for i, frame in enumerate(frames) if frame.filename == str(script)), len(frames))
    return traceback.StackSummary.from_list(f for f in frames[first:] if not Path(f.filename).is_relative_to(_PACKAGE))


def _own_traceback(error: BaseException, script: Path) -> str:
    frames = _own_frames(error, script)
    lines = ["Traceback (most recent call last):\n", *frames.format()] if frames else []
    return "".join([*lines, *traceback.format_exception_only(error)]).rstrip()


def _record_error(recorder, script: Path, error: BaseException) -> None:
    own = [frame for frame in _own_frames(error, script) if frame.filename == str(script)]
    place = {"file": own[-1].filename, "line": own[-1].lineno, "function": own[-1].name} if own else {}
    message = _described(error, str)
    recorder.mark(type(error).__name__, "error", message=message, traceback=_own_traceback(error, script), **place)


def _one_line(error: BaseException, script: Path) -> str:
    """The error and its line in the script, for the runner's one sentence."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(script)]
    line = f"line {own[-1].lineno}: " if own else ""
    return f"{line}{traceback.format_exception_only(error)[-1].strip()}"
