"""When the runner is interrupted or killed, its ranks and their children go with it."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pexpect
import pytest
from left_over import assert_nothing_left, barrier_lab, marked, marked_environment

pytestmark = pytest.mark.slow

MISBEHAVE = Path(__file__).parent / "programs" / "misbehave.py"
HARD = ["holds_the_interpreter_lock", "ignores_signals", "starts_a_child_and_stays"]


def wait_until_waiting(directory: Path, ranks: int = 2, within: float = 120.0) -> None:
    """Return when every rank has passed its first barrier."""
    limit = time.monotonic() + within
    traces = [directory / f"rank{n}.trace.json" for n in range(ranks)]
    while time.monotonic() < limit:
        if all(path.exists() and b'"ph":"E"' in path.read_bytes() for path in traces):
            return
        time.sleep(0.05)
    raise AssertionError("the ranks did not start")


@pytest.mark.parametrize(("how", "method"), [("absent", "spawn"), *((how, "forkserver") for how in HARD)])
def test_sigkill_of_the_runner_ends_every_rank(tmp_path: Path, how: str, method: str) -> None:
    environment = marked_environment()
    arguments = ["run", str(MISBEHAVE), "--how", how, "--start-method", method, "--out", str(tmp_path / "run")]
    runner = subprocess.Popen([sys.executable, "-m", "barrier_lab", *arguments], env=environment)
    wait_until_waiting(tmp_path / "run")
    assert len(marked(environment)) >= 3
    runner.kill()
    runner.wait()
    assert_nothing_left(environment)
    shown = barrier_lab("show", tmp_path / "run")
    assert shown.returncode == 130
    assert "do not say how the run ended" in shown.stdout and "in its 2nd barrier" in shown.stdout


@pytest.mark.parametrize("when", [0.3, 1.3, 2.3])
def test_sigkill_of_the_runner_during_start_up_ends_every_rank(when: float) -> None:
    environment = marked_environment()
    runner = subprocess.Popen([sys.executable, "-m", "barrier_lab", "run", MISBEHAVE], env=environment)
    time.sleep(when)
    runner.kill()
    runner.wait()
    assert_nothing_left(environment)


@pytest.mark.parametrize("how", ["absent", "ignores_signals"])
def test_ctrl_c_in_a_terminal_ends_the_run_with_130(tmp_path: Path, how: str) -> None:
    environment = marked_environment()
    arguments = ["-m", "barrier_lab", "run", str(MISBEHAVE), "--how", how, "--out", str(tmp_path / "run")]
    terminal = pexpect.spawn(sys.executable, arguments, env=environment, encoding="utf-8", dimensions=(24, 200))
    wait_until_waiting(tmp_path / "run")
    terminal.sendintr()
    terminal.expect("interrupted")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 130
    assert_nothing_left(environment)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_is_an_interrupt_that_is_recorded(tmp_path: Path, number: int) -> None:
    environment = marked_environment()
    arguments = ["run", str(MISBEHAVE), "--out", str(tmp_path / "run")]
    runner = subprocess.Popen([sys.executable, "-m", "barrier_lab", *arguments], env=environment)
    wait_until_waiting(tmp_path / "run")
    runner.send_signal(number)
    assert runner.wait(timeout=120) == 130
    assert '"outcome": "interrupted"' in (tmp_path / "run" / "run.json").read_text()
    assert_nothing_left(environment)


def test_ctrl_c_while_the_runner_still_imports_torch_shows_no_traceback() -> None:
    command = [sys.executable, "-m", "barrier_lab", "run", MISBEHAVE]
    runner = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while "libtorch" not in Path(f"/proc/{runner.pid}/maps").read_text():
        time.sleep(0.01)
    runner.send_signal(signal.SIGINT)
    _, said = runner.communicate(timeout=120)
    assert runner.returncode == 130
    assert "Traceback" not in said


def start_in_kernel(client, directory: Path, method: str) -> str:
    call = f"run({str(MISBEHAVE)!r}, out={str(directory)!r}, start_method={method!r})"
    message = client.execute(f"from barrier_lab import run\n{call}")
    wait_until_waiting(directory)
    return message


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_interrupting_a_notebook_kernel_ends_the_ranks_and_the_kernel_goes_on(kernel, tmp_path, method) -> None:
    manager, client, environment = kernel
    message = start_in_kernel(client, tmp_path / "run", method)
    manager.interrupt_kernel()
    reply = client.get_shell_msg(timeout=120)
    while reply["parent_header"].get("msg_id") != message:
        reply = client.get_shell_msg(timeout=120)
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert "Rank 0" in reply["content"]["evalue"]
    ranks = [process for process in marked(environment) if "multiprocessing" in " ".join(process.cmdline())]
    names = {p.pid: " ".join(p.cmdline()) for p in ranks}
    helpers = [line for line in names.values() if "resource_tracker" in line or "forkserver" in line]
    assert len(helpers) == len(names), names
    client.execute_interactive("assert 1 + 1 == 2", timeout=30)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_restarting_a_notebook_kernel_ends_the_ranks(kernel, tmp_path: Path, method: str) -> None:
    manager, client, environment = kernel
    start_in_kernel(client, tmp_path / "run", method)
    before = {process.pid for process in marked(environment)}
    manager.restart_kernel(now=True)
    limit = time.monotonic() + 60
    while before & {process.pid for process in marked(environment)} and time.monotonic() < limit:
        time.sleep(0.05)
    assert not before & {process.pid for process in marked(environment)}


def start_torchrun(environment: dict[str, str], directory: Path) -> subprocess.Popen:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return subprocess.Popen([*torchrun, MISBEHAVE, "--how", "ignores_signals", "--out", directory], env=environment)


def test_torchrun_ranks_end_with_their_agent(tmp_path: Path) -> None:
    environment = marked_environment()
    agent = start_torchrun(environment, tmp_path / "run")
    wait_until_waiting(tmp_path / "run")
    agent.kill()
    agent.wait()
    assert_nothing_left(environment)


def test_torchrun_ranks_whose_agent_dies_while_they_import_torch_end_too(tmp_path: Path) -> None:
    environment = marked_environment()
    agent = start_torchrun(environment, tmp_path / "run")
    while len(marked(environment)) < 3:
        time.sleep(0.02)
    agent.kill()
    agent.wait()
    assert_nothing_left(environment, within=30.0)
