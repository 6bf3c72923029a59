"""Each collective, message, wait and sleep is seen once, and does what it does without hooks.

Real ranks call everything in one run (see ``hook_calls``).
"""

import json
import signal
import subprocess
import sys

import hook_calls
import pytest
import torch.multiprocessing as mp

from barrier_lab import trace

BODIES = (hook_calls.everything, hook_calls.killed_in_barrier, hook_calls.leaves_with_operation_in_flight)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Directory and exit codes of each body's two ranks; all start at once."""
    started = {}
    for body in BODIES:
        # The forkserver's children leave without what happens at exit, which the last body is about.
        context = mp.get_context("spawn" if body is hook_calls.leaves_with_operation_in_flight else "forkserver")
        directory = tmp_path_factory.mktemp(body.__name__)
        ranks = [
            context.Process(target=hook_calls.spawned, args=(rank, directory, body), daemon=True) for rank in range(2)
        ]
        for rank in ranks:
            rank.start()
        started[body] = directory, ranks
    for _, ranks in started.values():
        for rank in ranks:
            rank.join(timeout=300)  # a busy machine
            rank.kill()
            rank.join()
    return {body: (directory, [rank.exitcode for rank in ranks]) for body, (directory, ranks) in started.items()}


@pytest.fixture(scope="module")
def recorded(runs):
    directory, codes = runs[hook_calls.everything]
    assert codes == [0, 0], "\n".join(path.read_text() for path in directory.glob("*.error"))
    return trace.read(directory)


@pytest.fixture(scope="module")
def calls(recorded):
    """``calls(function, rank)``: what one function of a rank did, in order."""

    def find(function, rank: int = 0, kinds=("collective", "p2p")) -> list[trace.Span]:
        spans = recorded.ranks[rank].spans
        return [span for span in spans if span.function == function.__name__ and span.kind in kinds]

    return find


BLOCKING = [
    (hook_calls.call_barrier, ["barrier"]),
    (hook_calls.call_all_reduce, ["all_reduce"]),
    (hook_calls.call_broadcast, ["broadcast"]),
    (hook_calls.call_reduce, ["reduce"]),
    (hook_calls.call_all_gather, ["all_gather"]),
    (hook_calls.call_all_gather_into_tensor, ["all_gather_into_tensor"]),
    (hook_calls.call_reduce_scatter, ["reduce_scatter"]),
    (hook_calls.call_reduce_scatter_tensor, ["reduce_scatter_tensor"]),
    (hook_calls.call_gather, ["gather"]),
    (hook_calls.call_scatter, ["scatter"]),
    (hook_calls.call_all_to_all, ["all_to_all"]),
    (hook_calls.call_all_to_all_single, ["all_to_all_single"]),
    (hook_calls.call_all_gather_object, ["all_gather", "all_gather"]),
    (hook_calls.call_broadcast_object_list, ["broadcast", "broadcast"]),
    (hook_calls.call_monitored_barrier, ["monitored_barrier"]),
]


@pytest.mark.parametrize(("function", "names"), BLOCKING)
@pytest.mark.parametrize("rank", [0, 1])
def test_a_blocking_collective_is_one_blocking_interval(calls, function, names, rank):
    spans = calls(function, rank, ("collective", "p2p", "wait"))
    assert [span.name for span in spans] == names
    assert all(span.blocked and span.end >= span.begin and span.error is None for span in spans)
    assert {span.group for span in spans} == {"default"}


def test_the_first_collective_after_the_start_has_number_one(calls):
    assert [span.seq for span in calls(hook_calls.call_barrier)] == [1]


def test_a_call_carries_the_line_of_the_script(calls):
    (span,) = calls(hook_calls.call_barrier)
    assert (span.file, span.line) == (hook_calls.__file__, hook_calls.call_barrier.__code__.co_firstlineno + 1)


def test_collectives_of_a_group_are_numbered_without_gaps(recorded):
    for rank in recorded.ranks:
        worlds = {}
        for span in rank.spans:
            if span.kind == "collective" and span.group.partition("#")[0] == "default":
                worlds.setdefault(span.group, []).append(span.seq)
        assert list(worlds) == ["default", "default#2", "default#3"]
        assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in worlds.values())


def test_ranks_agree_on_names_and_numbers(recorded):
    def seen(rank):
        spans = recorded.ranks[rank].spans
        return [(s.name, s.seq, s.blocked) for s in spans if s.kind == "collective" and s.group == "default"]

    assert seen(0) == seen(1)


@pytest.mark.parametrize(("rank", "name"), [(0, "send"), (1, "recv")])
def test_a_blocking_message_is_one_blocking_interval(calls, rank, name):
    (span,) = calls(hook_calls.call_send_recv, rank, ("p2p", "wait"))
    assert (span.name, span.kind, span.seq, span.blocked, span.group) == (name, "p2p", None, True, "default")
    assert span.end is not None


@pytest.mark.parametrize(("rank", "name"), [(0, "isend"), (1, "irecv")])
def test_an_async_message_is_in_flight_until_its_handle_is_waited_for(calls, rank, name):
    message, wait = calls(hook_calls.call_isend_irecv, rank, ("p2p", "wait"))
    assert (message.name, message.blocked, wait.kind, wait.blocked) == (name, False, "wait", True)
    assert message.begin <= wait.begin <= wait.end <= message.end


def test_each_message_of_a_batch_is_seen(calls):
    spans = calls(hook_calls.call_batch_isend_irecv, 0)
    assert [(span.name, span.blocked, span.end is None) for span in spans] == [
        ("isend", False, False),
        ("irecv", False, False),
    ]


@pytest.mark.parametrize("function", [hook_calls.call_functional, hook_calls.call_compiled])
def test_functional_and_compiled_collectives_are_seen_once(calls, recorded, function):
    spans = [s for s in recorded.ranks[0].spans if s.function in (function.__name__, "double")]
    spans = [s for s in spans if (s.function == "double") == (function is hook_calls.call_compiled)]
    assert [(s.name, s.blocked) for s in spans] == [("all_reduce", False), ("wait", True)]
    assert all(s.end is not None for s in spans)


@pytest.mark.parametrize("function", [hook_calls.call_with_handle, hook_calls.call_with_future])
def test_an_async_collective_and_the_wait_for_it_are_two_intervals(calls, function):
    collective, wait = calls(function, 0, ("collective", "wait"))
    assert (collective.name, collective.blocked) == ("all_reduce", False)
    assert (wait.name, wait.kind, wait.blocked, wait.seq) == ("wait", "wait", True, None)
    assert collective.end is not None


def test_a_wait_that_runs_out_leaves_the_collective_in_flight(calls):
    barrier, first, second = calls(hook_calls.call_probe, 0, ("collective", "wait"))
    assert (first.error, second.error, barrier.error) == ("RuntimeError: Operation timed out!", None, None)
    assert first.end < barrier.end


def test_a_handle_never_waited_for_is_no_blocking_interval(calls):
    (span,) = calls(hook_calls.call_and_forget, 0, ("collective", "wait"))
    assert (span.name, span.blocked) == ("barrier", False)
    assert span.end is not None


def test_only_the_sleeps_of_the_script_are_seen(calls):
    spans = calls(hook_calls.call_sleep, 0, ("sleep",))
    assert [(span.error or "").split(":")[0] for span in spans] == ["", "ValueError"]
    assert spans[0].end - spans[0].begin >= 0.02
    assert spans[0].line == hook_calls.call_sleep.__code__.co_firstlineno + 1


def test_each_group_counts_for_itself(calls):
    first, world, second = calls(hook_calls.call_sub_group)
    assert first.group == second.group != "default" == world.group
    assert (first.seq, second.seq) == (1, 2)


def test_a_group_made_again_under_an_old_name_is_a_new_group(calls):
    assert [(span.group, span.seq) for span in calls(hook_calls.call_in_new_world)] == [("default#2", 1)]


def test_bare_collectives_under_debug_level_detail_are_seen_once(calls):
    assert [(span.name, span.seq, span.blocked) for span in calls(hook_calls.call_in_detail)] == [
        ("barrier", 1, True),
        ("all_reduce", 2, True),
    ]


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (hook_calls.ddp_constructor, ["all_gather", "broadcast", "broadcast"]),
        (hook_calls.ddp_first_step, ["all_reduce"]),
        (hook_calls.ddp_second_step, ["broadcast", "broadcast", "all_reduce"]),
        (hook_calls.ddp_third_step, ["all_reduce", "all_gather"]),
    ],
)
def test_what_ddp_starts_below_python_is_seen(calls, function, names):
    spans = calls(function)
    assert [span.name for span in spans] == names
    assert all(span.end is not None for span in spans)


def test_a_call_that_fails_at_once_carries_its_error(calls):
    (span,) = calls(hook_calls.call_wrongly)
    assert "invalid tensor size" in span.error
    assert span.error.startswith("RuntimeError: ")


def test_a_collective_that_fails_later_carries_its_error(calls):
    spans = calls(hook_calls.call_late, 0, ("collective", "wait"))
    assert [(s.name, s.kind) for s in spans] == [
        ("all_reduce", "collective"),
        ("wait", "wait"),
        ("barrier", "collective"),
        ("monitored_barrier", "collective"),
        ("barrier", "collective"),
    ]
    assert all("Timed out" in span.error for span in spans[:3])
    assert "failed to pass monitoredBarrier" in spans[3].error
    assert spans[4].error is None


def test_a_rank_killed_in_a_barrier_leaves_the_barrier_open(runs):
    directory, codes = runs[hook_calls.killed_in_barrier]
    assert codes == [-signal.SIGKILL, 1]
    victim, other = trace.read(directory).ranks
    assert [(s.name, s.blocked, s.end) for s in victim.spans] == [("barrier", True, None)]
    assert "RuntimeError" in other.spans[-1].error


def test_an_operation_in_flight_at_exit_does_not_end_the_rank_badly(runs):
    directory, codes = runs[hook_calls.leaves_with_operation_in_flight]
    assert codes == [0, 0]
    (span,) = trace.read(directory).ranks[0].spans
    assert not span.blocked
    assert span.error is not None


def test_where_torch_does_not_fit_one_warning_says_so_and_the_script_runs(tmp_path):
    code = """if True:
        import sys, torch, torch.distributed as dist
        from barrier_lab.recording import hooks, recorder as recording
        del torch._C._dispatch_keyset_full_after
        recorder = recording.open_trace(sys.argv[1], 0)
        assert not hooks.install(recorder, sys.argv[1])
        hooks.start()
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        dist.barrier()
        dist.destroy_process_group()"""
    path = tmp_path / "rank0.trace.json"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("barrier_lab: collectives are not recorded") == 1
    events = json.loads(path.read_text().rstrip(",\n") + "]")
    assert [event["name"] for event in events if event.get("cat")] == ["installed", "hooks"]
