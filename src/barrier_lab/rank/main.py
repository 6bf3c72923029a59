"""Inside a rank: everything between the start of its process and the experiment's own code.

Nothing heavy is imported before the lifeline holds: a rank whose runner dies during start-up must die as well.
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
from barrier_lab.rank import common_start, deadline, ending, here, lifeline, output


def main(plan: Plan, rank: int, environment: dict[str, str], lifeline_end, stdout_end, stderr_end) -> None:
    """The target of the process that the runner starts: run one rank of the plan."""
    lifeline.hold_on(lifeline_end.fileno())
    here.rank = rank
    os.environ.clear()
    os.environ.update(environment | {"RANK": str(rank), "LOCAL_RANK": str(rank)})
    _redirect(stdout_end.fileno(), stderr_end.fileno())
    told = stdout_end.fileno()
    code = run(plan, rank, lambda word, detail: output.note(told, f"{word} {detail}"))
    if plan.launcher == "forkserver":  # whose children leave without what atexit holds
        threading._shutdown()  # as Python does it: first other threads end
        atexit._run_exitfuncs()
    sys.exit(code)


def _redirect(stdout: int, stderr: int) -> None:
    """Send what Python and the C++ below it print through the runner's pipes."""
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    sys.stdout = output.LineStream(1, output.to_pipe(1))
    sys.stderr = output.LineStream(2, output.to_pipe(2))


def run(plan: Plan, rank: int, tell: Callable[[str, str], None], worker=None) -> int:
    """Join the others, start together, call the worker, record it all.  Returns the exit code.

    ``tell`` hears how far this rank has come: a word ("start", "import") and a detail.
    """
    from barrier_lab.recording import recorder as recording

    directory = Path(plan.directory)
    recorder = recording.open_trace(run_directory.trace_of(directory, rank), rank)
    codes = _mark_exit(recorder)
    deadline.write_stacks_to(run_directory.stack_of(directory, rank).open("w"))
    deadline.stacks_after(common_start.STARTUP_LIMIT)
    if not faulthandler.is_enabled():  # by the script, for a file of its own
        faulthandler.enable(file=sys.__stderr__)
    recorder.mark("rank", "meta", **_about(plan, rank))
    _take_threads()
    codes.append(run_worker(plan, rank, recorder, tell, worker))
    return codes[0]


def _mark_exit(recorder) -> list[int]:
    """Record the exit code that the list will hold, as the last thing before the trace is closed.

    A process that hangs in its threads or at exit, or whose script leaves by ``os._exit``, has no such mark.
    """
    codes: list[int] = []
    atexit.register(lambda: [recorder.mark("exit", "meta", code=code) for code in codes])
    return codes


def run_worker(plan: Plan, rank: int, recorder, tell: Callable[[str, str], None], worker) -> int:
    """Import the experiment if there is no ``worker`` yet, and call it.  Returns the exit code."""
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
        except SystemExit:  # leaves no end: the worker did not get there
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
    """Use as many threads as the environment says: a forkserver's torch was imported under another one."""
    import torch

    threads = os.environ.get("OMP_NUM_THREADS", "")
    if threads.isdigit() and int(threads) > 0:
        torch.set_num_threads(int(threads))


def _import_script(script: Path) -> ModuleType:
    """Import the experiment once, under its own name, with its folder on the path, as ``python`` would."""
    name = script.stem if script.stem not in sys.modules else f"experiment_{script.stem}"
    if str(script.parent) not in sys.path:
        sys.path.insert(0, str(script.parent))
    spec = importlib.util.spec_from_file_location(name, script)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _join_group(plan: Plan) -> None:
    """Make the process group, as a training script does under torchrun."""
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
