"""Jobs on two hosts: what each of them says, what both say together, and what the network does to them."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import made_traces as made
import pytest
from left_over import assert_nothing_left, marked_environment
from two_hosts import Host, two_hosts

from barrier_lab import load
from barrier_lab.errors import UsageError

PROGRAM = Path(__file__).parent / "programs" / "two_nodes.py"
TRACE = [sys.executable, "-m", "barrier_lab", "trace", "--stall", "2", "--out"]
LONG = 600  # seconds; a timeout that does not pass


def line(marker: str) -> str:
    lines = PROGRAM.read_text().splitlines()
    return f"two_nodes.py:{1 + next(i for i, text in enumerate(lines) if text.endswith(f'# {marker}'))}"


@pytest.fixture
def hosts():
    with two_hosts() as found:
        yield found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def job(hosts: list[Host], folder: Path, *arguments: int, interfaces: list[str] | None = None):
    """Two agents of two ranks, each under ``trace``: their processes.  They are gone when this ends."""
    environment = marked_environment()
    port = free_port()
    agents = []
    for node, host in enumerate(hosts):
        variables = environment | {"GLOO_SOCKET_IFNAME": interfaces[node] if interfaces else host.interface}
        agent = ["-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "2", "--node-rank", str(node)]
        agent += ["--master-addr", hosts[0].address, "--master-port", str(port), str(PROGRAM), *map(str, arguments)]
        command = [*host.enter, *TRACE, str(folder / f"node{node}"), "--", sys.executable, *agent]
        agents.append(subprocess.Popen(command, env=variables, start_new_session=True, stdout=subprocess.DEVNULL))
    try:
        yield agents
    finally:
        for agent in agents:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(agent.pid, signal.SIGINT)
        time.sleep(1)
        for agent in agents:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(agent.pid, signal.SIGINT)
            agent.wait(60)
        assert_nothing_left(environment)


def until(true, limit: float = 240) -> None:
    """Wait until a condition holds; a folder that holds no run yet is no error."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        with contextlib.suppress(UsageError):
            if true():
                return
        time.sleep(0.5)
    raise AssertionError("this never happened")


def both(folder: Path):
    return load(folder / "node0", folder / "node1")


def steps_done(folder: Path) -> int:
    if len(both(folder).ranks) < 4:
        return 0
    return min(sum(span.end is not None for span in both(folder).spans(rank, "all_reduce")) for rank in range(4))


@pytest.mark.slow
def test_a_rank_of_the_second_node_that_does_not_come_is_named(hosts, tmp_path):
    with job(hosts, tmp_path, 5, LONG, 3):
        until(lambda: both(tmp_path).outcome == "hung" and "in time.sleep" in both(tmp_path).verdict)
        said, alone = both(tmp_path).verdict, load(tmp_path / "node0").verdict
    assert f"Ranks 0-2 are waiting in their 1st barrier ({line('B')})." in said
    assert "Rank 3 had not called barrier (it had called 5 of the 6 collectives that this takes)" in said
    assert f"it was in time.sleep ({line('AWAY')}" in said
    assert "The clocks of the nodes are aligned at 5 collectives that they share: node 2 is " in said
    assert "Ranks 2 and 3 left no record in this folder: show the folders of all nodes together." in alone


@pytest.mark.slow
def test_a_link_that_is_cut_looks_the_same_from_both_sides(hosts, tmp_path):
    if not hosts[0].enter:
        pytest.skip("needs network namespaces")
    with job(hosts, tmp_path, 1000, 5, -1) as agents:
        until(lambda: steps_done(tmp_path) > 5)
        hosts[0].ip("link", "set", hosts[0].interface, "down")
        until(lambda: any(agent.poll() is not None for agent in agents), 60)
        time.sleep(3)
        said = [load(tmp_path / f"node{node}").verdict for node in range(2)]
    for own, verdict in (("0", said[0]), ("2", said[1])):
        assert f"all_reduce ({line('W')}" in verdict and f"ank{'s' * (f'anks {own}' in verdict)} {own}" in verdict
    assert any("until the timeout of 5 s ended it" in verdict for verdict in said), said


@pytest.mark.slow
def test_packets_that_are_lost_for_a_while_delay_the_job_and_no_more(hosts, tmp_path):
    if not hosts[0].enter:
        pytest.skip("needs network namespaces")
    with job(hosts, tmp_path, 40, LONG, -1) as agents:
        until(lambda: steps_done(tmp_path) > 5)
        hosts[1].ip("route", "add", "blackhole", f"{hosts[0].address}/32")
        time.sleep(4)
        hosts[1].ip("route", "delete", "blackhole", f"{hosts[0].address}/32")
        until(lambda: all(agent.poll() is not None for agent in agents))
    run = both(tmp_path)
    assert run.outcome == "completed"
    assert "All 4 ranks finished by" in run.verdict


@pytest.mark.slow
def test_the_wrong_interface_is_told_as_a_start_that_fails(hosts, tmp_path):
    if not hosts[0].enter:
        pytest.skip("needs network namespaces")
    with job(hosts, tmp_path, 1, 20, -1, interfaces=["lo", "lo"]) as agents:
        until(lambda: any(agent.poll() is not None for agent in agents))
        time.sleep(2)
        said = [load(tmp_path / f"node{node}").verdict for node in range(2)]
    assert any("connectFullMesh" in verdict for verdict in said), said


@pytest.mark.slow
def test_a_blocked_port_of_the_store_is_told_on_both_sides(hosts, tmp_path):
    if not hosts[0].enter:
        pytest.skip("needs network namespaces")
    hosts[1].ip("route", "add", "blackhole", f"{hosts[0].address}/32")
    port = str(free_port())
    ranks = []
    for rank, host in enumerate(hosts):
        where = {"MASTER_ADDR": hosts[0].address, "MASTER_PORT": port, "RANK": str(rank), "WORLD_SIZE": "2"}
        command = [
            *host.enter,
            *TRACE,
            str(tmp_path / f"node{rank}"),
            "--",
            sys.executable,
            str(PROGRAM),
            "1",
            "8",
            "-1",
        ]
        environment = os.environ | where | {"GLOO_SOCKET_IFNAME": host.interface}
        ranks.append(subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    for rank in ranks:
        assert rank.wait(240) != 0
    said = [load(tmp_path / f"node{node}").verdict for node in range(2)]
    assert "Rank 0" in said[0] and "1/2 clients joined" in said[0], said[0]
    assert "Rank 1" in said[1] and "client socket has" in said[1], said[1]


def nodes(tmp_path: Path, ahead: float, **more) -> list[Path]:
    """Folders of two nodes of one rank; the second one's clock is ``ahead``.  Rank 1 comes 0.5 s later each time."""
    zero = made.rank(made.barrier(1.0, 1.501), made.barrier(2.0, 2.502), made.barrier(3.0, None))
    moved = [made.barrier(begin + ahead, end + ahead) for begin, end in ((1.5, 1.502), (2.5, 2.501))]
    one = made.rank(*moved, made.sleep(2.6 + ahead, None))
    missing = made.rank(started=False)
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder, ranks, gone in ((folders[0], [zero, missing], 1), (folders[1], [missing, one], 0)):
        made.write(folder, ranks, outcome="hung", **more)
        (folder / f"rank{gone}.trace.json").unlink()
    return folders


@pytest.mark.parametrize("ahead", [0.0, 3.0, -3.0])
def test_clocks_that_differ_by_seconds_are_aligned_within_milliseconds(tmp_path, ahead):
    run = load(*nodes(tmp_path, ahead))
    for seq in range(2):
        ends = [run.spans(rank, "barrier")[seq].end for rank in range(2)]
        assert ends[0] == pytest.approx(ends[1], abs=0.005)
    way = "behind" if ahead < 0 else "ahead of"
    assert f"node 2 is {abs(ahead):.3f} s {way} node 1 (± " in run.verdict
    assert "Rank 0 is waiting in its 3rd barrier" in run.verdict
    assert "compare no times" not in run.verdict


def test_without_a_shared_collective_no_times_are_compared(tmp_path):
    folders = nodes(tmp_path, 3.0)
    made.write(tmp_path / "c", [made.rank(started=False), made.rank(made.sleep(0.1, None))], outcome="hung")
    (tmp_path / "c" / "rank0.trace.json").unlink()
    assert "compare no times of different ranks" in load(folders[0], tmp_path / "c").verdict


def test_folders_that_are_not_of_one_job_get_one_sentence(tmp_path):
    folders = nodes(tmp_path, 0.0)
    other = made.write(tmp_path / "c", [made.rank() for _ in range(3)])
    with pytest.raises(UsageError, match="of different jobs, of 2 and 3 ranks"):
        load(folders[0], other)
    with pytest.raises(UsageError, match=r"Rank 0 is in .* and in .*: give one folder a node"):
        load(folders[0], folders[0])
    with pytest.raises(UsageError, match="holds no run"):
        load(folders[0], tmp_path)
