"""The main program of a rank, from the start of its process to the experiment's own code.

Nothing heavy is imported before the lifeline is set up: a rank whose runner dies during startup must die too.
"""

import atexit
import faulthandler
import importlib.util
import os
import platform
import socket
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import ModuleType

from barrier_lab import run_directory
from barrier_lab.planning.plan import Plan
from barrier_lab.rank import common_start, current_rank, deadline, ending, lifeline, output


def main(plan: Plan, rank: int, environment: dict[str, str], lifeline_end, stdout_end, stderr_end) -> None:
    """Run one rank of the plan.  The target of the process that the runner starts."""
    lifeline.hold_on(lifeline_end.fileno())
    current_rank.rank = rank
    os.environ.clear()
    os.environ.update(environment | {"RANK": str(rank), "LOCAL_RANK": str(rank)})
    _redirect(stdout_end.fileno(), stderr_end.fileno())
    told = stdout_end.fileno()
    code = run(plan, rank, lambda word, detail: output.note(told, f"{word} {detail}"))
    if plan.launcher == "forkserver":  # its children exit without running atexit functions
        threading._shutdown()  # as in Python, join other threads first
        atexit._run_exitfuncs()
    sys.exit(code)


def _redirect(stdout: int, stderr: int) -> None:
    """Redirect output of Python and C++ to the runner's pipes."""
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    sys.stdout = output.LineStream(1, output.to_pipe(1))
    sys.stderr = output.LineStream(2, output.to_pipe(2))


def run(plan: Plan, rank: int, tell: Callable[[str, str], None], worker=None) -> int:
    """Join the process group, wait for the common start, and call the worker, recording.  Returns the exit code.

    ``tell`` is called with the progress of this rank: a word ("start", "import") and a detail.
    """
    from barrier_lab.recording import recorder as recording

    directory = Path(plan.directory)
    recorder = recording.open_trace(run_directory.trace_of(directory, rank), rank)
    codes = _mark_exit(recorder)
    deadline.write_stacks_to(run_directory.stack_of(directory, rank).open("w"))
    deadline.stacks_after(common_start.STARTUP_LIMIT)
    if not faulthandler.is_enabled():  # else enabled by the script, for its own file
        faulthandler.enable(file=sys.__stderr__)
    recorder.mark("rank", "meta", **_about(plan, rank))
    _take_threads()
    codes.append(run_worker(plan, rank, recorder, tell, worker))
    return codes[0]


def _mark_exit(recorder) -> list[int]:
    """Record, just before the trace is closed, the exit code appended to the returned list.

    A process that hangs in its threads or at exit, or that calls ``os._exit``, has no such mark.
    """
    codes: list[int] = []
    atexit.register(lambda: [recorder.mark("exit", "meta", code=code) for code in codes])
    return codes


def run_worker(plan: Plan, rank: int, recorder, tell: Callable[[str, str], None], worker) -> int:
    """Call the worker, importing the script first if ``worker`` is None.  Returns the exit code."""
    from barrier_lab.recording import hooks

    script = Path(plan.script)
    hooks.install(recorder, script)
    if worker is None:
        try:
            worker = _import_script(script).worker
        except BaseException as error:
            ending.record_error(recorder, script, error)
            tell("import", ending.one_line(error, script))
            return 1
    try:
        if plan.init:
            _join_group(plan)
        common_start.start_together(recorder, tell)
        hooks.start()
        deadline.stacks_after(plan.deadline)
        try:
            result = worker(rank, plan.world_size, **plan.parameters)
        except SystemExit:  # no "end" mark: the worker did not return
            raise
        except BaseException:
            recorder.mark("end", "meta")
            raise
        recorder.mark("end", "meta")
        ending.record_result(recorder, result)
        _leave_group(plan)
    except SystemExit as request:
        ending.record_leaving(recorder, request)
        return ending.exit_code(request)
    except BaseException as error:
        ending.record_error(recorder, script, error)
        output.flush(sys.stdout)
        ending.complain(ending.own_traceback(error, script))
        return 1
    finally:
        output.flush(sys.stdout, sys.stderr)
    return 0


def _about(plan: Plan, rank: int) -> dict:
    import torch

    return plan.facts() | {
        "schema": run_directory.SCHEMA,
        "rank": rank,
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "host": socket.gethostname(),
        "os_pid": os.getpid(),
    }


def _take_threads() -> None:
    """Set torch's thread count from the environment: a forkserver imported torch under a different one."""
    import torch

    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdigit() and int(threads) > 0:
        torch.set_num_threads(int(threads))


def _import_script(script: Path) -> ModuleType:
    """Import the script once, under its own name, with its folder on ``sys.path``, as ``python`` would."""
    name = script.stem if script.stem not in sys.modules else f"experiment_{script.stem}"
    if str(script.parent) not in sys.path:
        sys.path.insert(0, str(script.parent))
    spec = importlib.util.spec_from_file_location(name, script)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _join_group(plan: Plan) -> None:
    """Initialize the process group, as a training script does under torchrun."""
    import torch
    import torch.distributed as dist

    options = {} if plan.timeout is None else {"timeout": timedelta(seconds=plan.timeout)}
    if plan.backend == "nccl":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
        options["device_id"] = device
    dist.init_process_group(plan.backend, **options)


def _leave_group(plan: Plan) -> None:
    import torch.distributed as dist

    if plan.init and dist.is_initialized():
        dist.destroy_process_group()
