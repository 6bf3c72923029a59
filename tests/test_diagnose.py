"""The verdict says what happened, in the reader's words, and nothing that the files do not show."""

import time

import pytest
from hand_made import SCRIPT, barrier, call, end, raised, sleep, start, write

from barrier_lab import diagnose, trace

HUNG = {"outcome": "hung", "stopped": 6.0}
GONE = (
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:537] Read error [127.0.0.1]:26760: Connection "
    "reset by peer. This is typically caused by a remote worker hanging or bugs in the application."
)
TIME_OUT = (
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] "
    "Timed out waiting 3000ms for recv operation to complete"
)


@pytest.fixture
def verdict(tmp_path):
    """Write a run directory and say what happened in it."""
    return lambda *ranks, **run: diagnose.verdict(trace.read(write(tmp_path, dict(enumerate(ranks)), **run)))


@pytest.fixture
def outcome(tmp_path):
    return lambda *ranks, **run: diagnose.outcome(trace.read(write(tmp_path, dict(enumerate(ranks)), **run)))


TORCH = "/x/site-packages/torch/distributed/distributed_c10d.py"
AFTER_WORKER = 'Thread 0x1 (most recent call first):\n  File "/x/barrier_lab/rank.py", line 118 in run_worker\n'


def _stack(*inner: tuple[str, str]) -> str:
    """A stack whose innermost frames, (function, file), lie above line 20 of the script."""
    frames = [*((file, 9, function) for function, file in inner), (SCRIPT, 20, "worker")]
    lines = (f'  File "{file}", line {line} in {function}\n' for file, line, function in frames)
    return "Thread 0x1 (most recent call first):\n" + "".join(lines)


@pytest.fixture
def hung_at(tmp_path):
    """The verdict of a hung run whose rank 0 left this stack."""

    def said(*ranks, stack: str) -> str:
        write(tmp_path, dict(enumerate(ranks)), ended={1: {"exit_code": 0}}, **HUNG)
        (tmp_path / "rank0.stack").write_text(stack)
        return diagnose.verdict(trace.read(tmp_path))

    return said


def victim(line: int, began: float, broke: float, error: str = GONE) -> list[list[dict]]:
    """A rank whose barrier broke."""
    return [barrier(line, began, broke, error=error), raised(broke, error, line)]


# --- hung


def test_a_rank_that_waits_and_the_one_that_does_not_come_are_named_with_their_lines(verdict):
    said = verdict(
        [start(), barrier(19, 1, 2), barrier(21, 2)],
        [start(), sleep(20, 0, 2), barrier(24, 2, 2.001), sleep(25, 2.1)],
        **HUNG,
    )
    assert said == (
        "Rank 0 is waiting in its 2nd barrier (one_sided.py:21). "
        "Rank 1 had called barrier once when the run was stopped at 6.0 s; it was in time.sleep (one_sided.py:25)."
    )


def test_ranks_that_wait_in_the_same_call_share_a_sentence(verdict):
    waiting = [[start(), barrier(19, 1, 2), barrier(21, 2)] for _ in range(7)]
    said = verdict(*waiting, [start(), barrier(19, 2, 2.1), sleep(25, 2.1)], **HUNG)
    assert said.startswith(
        "Ranks 0-6 are waiting in their 2nd barrier (one_sided.py:21). Rank 7 had called barrier once"
    )


def test_sixty_four_ranks_in_sixty_four_places_are_counted_and_not_listed(verdict):
    ranks = [[start(), sleep(line, 0)] for line in range(1, 64)]
    said = verdict([start(), barrier(99, 0)], *ranks, **HUNG)
    assert said.count("time.sleep") == 4
    assert "59 more ranks stood elsewhere." in said


def test_a_rank_that_spins_is_found_by_its_stack(verdict):
    said = verdict([start(), barrier(19, 1)], [start()], stacks={0: 19, 1: 40}, **HUNG)
    assert "Rank 1 had not called barrier when the run was stopped at 6.0 s; it was at one_sided.py:40" in said


def test_a_missing_rank_that_has_finished_is_said_to_have(verdict):
    said = verdict([start(), barrier(10, 1)], [start(), end(0.5)], ended={1: {"exit_code": 0}}, **HUNG)
    assert said.endswith("it had finished at 0.50 s.")


def test_a_process_that_does_not_end_after_its_worker_is_told(verdict):
    said = verdict([start(), end(1)], [start(), end(1)], ended={0: {"exit_code": 0}}, **HUNG)
    assert "Rank 1 had left its worker, but its process had not ended." in said


def test_a_missing_rank_that_was_killed_is_said_to_be(verdict):
    said = verdict([start(), barrier(10, 1)], [start()], ended={1: {"signal": "SIGKILL"}}, **HUNG)
    assert said.endswith("it had been killed by SIGKILL.")


def test_where_nobody_waits_no_rank_is_called_missing(verdict):
    said = verdict([start(), sleep(39, 0)], [start(), sleep(40, 0)], stacks={0: 39, 1: 40}, **HUNG)
    assert "No rank was waiting for another." in said
    assert "barrier" not in said


def test_a_rank_that_spins_may_wait_at_the_store_and_the_verdict_does_not_deny_it(verdict):
    said = verdict([start()], [start()], stacks={0: 39, 1: 40}, **HUNG)
    assert "No rank was waiting for another in a call that is recorded." in said


def test_ranks_that_make_a_group_are_said_to_be_in_that_call_and_not_to_wait_for_nobody(hung_at):
    said = hung_at([start()], [start(), end(0.1)], stack=_stack(("_new_group_with_tag", TORCH), ("new_group", TORCH)))
    assert "Rank 0 was in new_group (one_sided.py:20)" in said
    assert "No rank was waiting" not in said


def test_a_handle_in_flight_is_not_what_a_rank_in_new_group_waits_for(hung_at):
    handle = call("all_reduce", 10, 0.1, below=True)
    said = hung_at([start(), handle], [start(), handle, end(0.1)], stack=_stack(("new_group", TORCH)))
    assert "Rank 0 was in new_group (one_sided.py:20)" in said
    assert "had not completed" not in said


def test_a_rank_that_stands_still_behind_its_worker_is_said_to_have_left_it(hung_at):
    hidden = call("all_reduce", None, 1, below=True, file=None)
    said = hung_at([start(), hidden], [start(), hidden, end(2)], stack=AFTER_WORKER)
    assert said.startswith("Rank 0 had left its worker and was ending; its 1st all_reduce had not completed.")
    assert "Rank 0 had left its worker and was ending" in hung_at([start()], [start(), end(2)], stack=AFTER_WORKER)


def test_of_several_collectives_that_one_call_started_the_first_holds_the_rank_and_is_told_once(verdict):
    begun = [call("broadcast", 50, 1 + n / 1000, below=True) for n in range(2)]
    said = verdict([start(), *begun], [start(), barrier(53, 1)], stacks={0: 50, 1: 53}, **HUNG)
    assert said.startswith(
        "The ranks' calls first differ at the 1st collective: broadcast (one_sided.py:50) on rank 0 and"
    )
    assert "Rank 0 is waiting in its 1st broadcast (one_sided.py:50). Rank 1 is waiting in its 1st barrier" in said
    assert "had not arrived at" not in said
    assert said.count("broadcast") == 2 and "different collectives" in said


def test_barrier_against_all_reduce_is_named_with_both_lines(verdict):
    said = verdict([start(), barrier(19, 1)], [start(), call("all_reduce", 25, 1)], **HUNG)
    assert "barrier (one_sided.py:19) on rank 0 and all_reduce (one_sided.py:25) on rank 1" in said
    assert "different collectives" in said


def test_what_was_called_before_a_mismatch_is_counted(verdict):
    before = [call("broadcast", 8, 0, 0.1), call("broadcast", 8, 0.2, 0.3)]
    said = verdict([start(), *before, barrier(10, 1)], [start(), *before, call("all_reduce", 20, 1)])
    assert "After broadcast twice (one_sided.py:8), the ranks' calls first differ at the 3rd collective: " in said
    assert "barrier (one_sided.py:10) on rank 0 and all_reduce (one_sided.py:20) on rank 1" in said


def test_collectives_of_another_kind_count_on_the_way(verdict):
    early = [start(), call("all_reduce", 8, 0, 1)]
    said = verdict([*early, barrier(10, 1)], [*early, sleep(12, 1)], **HUNG)
    assert "Rank 1 had not called barrier (it had called 1 of the 2 collectives that this takes)" in said


def test_a_rank_that_waits_for_a_handle_is_told_with_the_call_of_the_handle(verdict):
    said = verdict(
        [start(), call("all_reduce", 10, 1, below=True), call("wait", 12, 1.1, kind="wait")],
        [start(), sleep(9, 0)],
        **HUNG,
    )
    assert said.startswith(
        "Rank 0 is waiting in wait() (one_sided.py:12) for its 1st all_reduce (one_sided.py:10) to complete. "
        "Rank 1 had not called all_reduce"
    )


def test_a_collective_that_the_model_starts_is_told_by_the_line_that_starts_it(verdict):
    said = verdict([start(), call("broadcast", 31, 1, below=True)], [start(), end(1)], stacks={0: 31}, **HUNG)
    assert said.startswith("Rank 0 is waiting in its 1st broadcast (one_sided.py:31).")


def test_a_collective_of_a_background_thread_is_told_with_the_line_where_its_rank_stands(verdict):
    hidden = call("all_reduce", None, 1, below=True, file=None)
    said = verdict([start(), hidden], [start(), end(1)], stacks={0: 33}, **HUNG)
    assert said.startswith("Rank 0 was at one_sided.py:33 (in worker); its 1st all_reduce had not completed.")


def test_a_rank_that_waits_for_a_message_blames_nobody(verdict):
    said = verdict([start(), call("recv", 10, 1, kind="p2p")], [start(), end(0.5)], **HUNG)
    assert said.startswith("Rank 0 is waiting in its 1st recv (one_sided.py:10). ")
    assert "it had finished at 0.50 s" in said


def test_members_of_a_group_are_those_that_used_it_and_the_verdict_says_so(verdict):
    used = barrier(8, 0, 0.5, group="1")
    said = verdict([start(), used, barrier(10, 1, group="1")], [start(), used, sleep(12, 1)], [start(), end(1)], **HUNG)
    assert "Rank 1 had called barrier on new group 1 once" in said
    assert "Only ranks 0 and 1 used new group 1; whether other ranks belong to it, the recording does not say." in said


def test_two_ranks_that_wait_for_each_other_on_two_groups_are_both_told(verdict):
    both = barrier(8, 0, 0.5, group="1")
    said = verdict([start(), both, barrier(10, 1)], [start(), both, barrier(12, 1, group="1")], **HUNG)
    assert said.startswith(
        "Ranks 0 and 1 wait for each other: rank 0 for rank 1 to call barrier and "
        "rank 1 for rank 0 to call barrier on new group 1."
    )
    assert "Rank 0 is waiting in its 1st barrier on the default group (one_sided.py:10)." in said
    assert "Rank 1 is waiting in its 2nd barrier on new group 1 (one_sided.py:12)." in said


def test_who_is_missing_is_told_as_data(tmp_path):
    ranks = {0: [start(), barrier(10, 1)], 1: [start(), barrier(10, 1)], 2: [start(), sleep(9, 0)]}
    [met] = diagnose.missing(trace.read(write(tmp_path, ranks, **HUNG)))
    assert (met.name, met.group, met.seq, met.waiting, met.missing) == ("barrier", "default", 1, [0, 1], [2])


# --- failed


def test_a_killed_rank_comes_before_the_error_of_its_victim(verdict):
    said = verdict(
        [start(), *victim(10, 1, 2)], [start(), sleep(12, 1)], outcome="failed", ended={1: {"signal": "SIGKILL"}}
    )
    assert said == (
        "Rank 1 was killed by SIGKILL while in time.sleep (one_sided.py:12). "
        "Rank 0 failed in its 1st barrier (one_sided.py:10) at 2.00 s: “Read error: Connection reset by peer”."
    )


def test_an_exception_comes_before_the_error_of_its_victim(verdict):
    other = [start(), raised(1.99, "ValueError: a {t} in braces", 14)]
    said = verdict([start(), *victim(10, 1, 1.98)], other, outcome="failed")
    assert said.startswith("Rank 1 raised “ValueError: a {t} in braces” at 1.99 s (one_sided.py:14). Rank 0 failed in")


def test_a_port_that_is_taken_is_a_cause_and_told_before_the_ranks_that_wait_for_it(verdict):
    taken = (
        "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. "
        "port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use"
    )
    waits = raised(3.0, "torch.distributed.DistStoreError: wait timeout after 3000ms, keys: /0//cpu//0/0", 35)
    said = verdict([start(), raised(0.001, taken, 33)], [start(), waits], outcome="failed")
    assert said.startswith("Rank 0 raised “torch.distributed.DistNetworkError: The server socket has failed to listen")
    assert "EADDRINUSE, message: address already in use” at 1.0 ms (one_sided.py:33). Rank 1 raised" in said


def test_an_error_long_before_any_cause_that_is_known_is_told_first(verdict):
    refused = raised(0.1, "torch.distributed.DistNetworkError: Connection refused", 33)
    said = verdict([start(), raised(3.0, "ValueError: x", 35)], [start(), refused], outcome="failed")
    assert said.startswith("Rank 1 raised “torch.distributed.DistNetworkError: Connection refused” at 0.10 s")
    assert said.endswith("Rank 0 raised “ValueError: x” at 3.00 s (one_sided.py:35).")


@pytest.mark.parametrize("events", [[], [end(1.2)]], ids=["os._exit", "sys.exit"])
def test_an_exit_code_is_told(verdict, events):
    other = [start(), barrier(9, 1, 1.1), *events]
    said = verdict([start(), *victim(10, 1, 2)], other, outcome="failed", ended={1: {"exit_code": 3}})
    assert said.startswith("Rank 1 exited with code 3 ")
    assert "Rank 0 failed in its 1st barrier" in said


def test_a_rank_that_left_early_is_the_cause_though_it_raised_nothing(verdict):
    said = verdict(
        [start(), barrier(9, 0, 0.6), *victim(10, 1, 2)],
        [start(), barrier(9, 0, 0.6), end(0.7)],
        outcome="failed",
        ended={0: {"exit_code": 1}, 1: {"exit_code": 0}},
    )
    assert said.startswith("Rank 1 finished at 0.70 s, having called barrier once (one_sided.py:9). Rank 0 failed")


def test_a_skipped_barrier_shows_which_lines_were_paired(verdict):
    said = verdict(
        [start(), barrier(9, 0, 0.6), *victim(11, 1, 2)],
        [start(), barrier(11, 0, 0.6), end(0.7)],
        outcome="failed",
        ended={1: {"exit_code": 0}},
    )
    assert (
        "differ at the 1st collective: barrier (one_sided.py:9) on rank 0 and barrier (one_sided.py:11) on rank 1"
        in said
    )


def test_a_time_out_names_who_had_not_come_and_is_never_called_a_deadline(verdict):
    said = verdict([start(), *victim(10, 1, 4, TIME_OUT)], [start(), sleep(12, 0)], outcome="failed", stopped=9.0)
    assert said == (
        "Rank 0 waited in its 1st barrier (one_sided.py:10) until the timeout of 3 s ended it at 4.00 s: "
        "“Timed out waiting 3000ms for recv operation to complete”. "
        "Rank 1 had not called barrier by then; it was in time.sleep (one_sided.py:12)."
    )


def test_a_rank_still_waiting_when_another_fails_is_told_as_waiting(verdict):
    said = verdict([start(), raised(1, "ValueError: x")], [start(), barrier(10, 1)], outcome="failed", stopped=6.0)
    assert said.endswith("Rank 1 was waiting in its 1st barrier (one_sided.py:10) when the run was stopped at 6.0 s.")


def test_an_exception_before_the_start_is_told_as_that(verdict):
    said = verdict([raised(-0.5, "ValueError: x")], [], outcome="failed", stopped=6.0)
    assert "raised “ValueError: x” before the common start" in said
    assert "Rank 1 had not arrived at the common start" in said


def test_the_runners_own_sentence_stands_where_no_rank_started(verdict):
    said = verdict([], [], outcome="failed", message="Start-up took over 120 s: rank 1 did not come.")
    assert said == "Start-up took over 120 s: rank 1 did not come."


# --- completed


def test_a_completed_run_names_its_longest_wait(verdict):
    early, late = [start(), barrier(10, 0, 5), end(5)], [start(), sleep(11, 0, 5), barrier(12, 5, 5.001), end(5)]
    assert verdict(early, early, late, outcome="completed") == (
        "All 3 ranks finished by 5.00 s. The longest wait was in the 1st barrier: "
        "ranks 0 and 1 (one_sided.py:10) waited up to 5.00 s for rank 2 (one_sided.py:12), the last to call it."
    )


def test_a_rank_that_hardly_waited_is_not_named_among_those_that_waited(verdict):
    early, late = [start(), barrier(10, 0, 2), end(2)], [start(), barrier(12, 2, 2.001), end(2)]
    said = verdict(late, early, [start(), barrier(12, 1.998, 2), end(2)], early, outcome="completed")
    assert "ranks 1 and 3 (one_sided.py:10) waited up to 2.00 s for rank 0 (one_sided.py:12)" in said


def test_two_lines_that_pair_in_a_completed_run_are_no_shift(verdict):
    said = verdict([start(), barrier(10, 0, 1), end(1)], [start(), barrier(20, 1, 1.01), end(1)], outcome="completed")
    assert "paired" not in said


def test_a_broadcast_is_not_said_to_wait_for_the_last(verdict):
    said = verdict(
        [start(), call("broadcast", 10, 0, 0.1), end(1)],
        [start(), call("broadcast", 10, 0.9, 1), end(1)],
        outcome="completed",
    )
    assert said == "Both ranks finished by 1.00 s."


def test_an_error_that_the_code_caught_is_told(verdict):
    probe = call("wait", 11, 0, 1, kind="wait", error="RuntimeError: Operation timed out!")
    said = verdict([start(), probe, end(2)], [start(), end(2)], outcome="completed")
    assert said.startswith("The script caught an error and went on. Rank 0 waited in its 1st wait()")
    assert said.endswith(
        "until the timeout ended it at 1.00 s: “Operation timed out!”. Both ranks finished by 2.00 s. "
        "No rank called a collective."
    )


def test_a_rank_that_leaves_with_code_0_inside_its_worker_is_told(verdict):
    said = verdict([start(), barrier(9, 0, 0.5)], [start(), barrier(9, 0, 0.5), end(0.6)], outcome="completed")
    assert said.startswith(
        "Both ranks exited with code 0, but not all came to the end of their worker. Rank 0 left after its"
    )


# --- what the runner did not write


def test_ranks_that_all_finished_completed(outcome):
    assert outcome([start(), end(1)], [start(), end(1)]) == "completed"


def test_a_rank_that_raised_failed(outcome):
    assert outcome([start(), raised(1, "ValueError: x")], [start()], stacks={1: 9}) == "failed"


def test_a_rank_with_a_stack_hung_even_if_its_victims_then_raised(outcome):
    assert outcome([start(), barrier(10, 1)], [start(), *victim(10, 1, 6.1)], stacks={0: 10}) == "hung"


def test_a_rank_whose_peer_vanished_failed(outcome):
    assert outcome([start(), *victim(10, 1, 2)], [start(), sleep(12, 1)]) == "failed"


def test_a_run_that_may_still_go_on_is_not_called_hung(tmp_path):
    run = trace.read(write(tmp_path, {0: [start(), barrier(10, 0)], 1: [start(), sleep(11, 0.3)]}))
    assert diagnose.outcome(run) == "interrupted"
    assert diagnose.verdict(run).startswith("The files end at 0.3 s and do not say how the run ended")
    assert "Rank 1 had not called barrier by then; it was in time.sleep (one_sided.py:11)." in diagnose.verdict(run)


def test_an_interrupted_run_says_when(verdict):
    said = verdict([start(), barrier(10, 0)], [start(), sleep(11, 0)], outcome="interrupted", stopped=3.2)
    assert said.startswith("The run was interrupted at 3.2 s. Rank 0 is waiting in its 1st barrier")


def _explained(tmp_path, ranks: int) -> tuple[str, float]:
    """The verdict on 1,000 barriers of which the last rank misses the last, and the processor's seconds for it."""
    run = trace.read(write(tmp_path / str(ranks), {rank: [start()] for rank in range(ranks)}, **HUNG))
    for rank in run.ranks:
        rank.spans = [
            trace.Span(rank.rank, "barrier", "collective", "default", n, n, n + 0.5, True, None, "f.py", 9, "worker")
            for n in range(1, 1001)
        ]
        rank.spans[-1].end = None
    del run.ranks[-1].spans[-1]
    began = time.process_time()
    return diagnose.verdict(run), time.process_time() - began


def test_a_run_of_64_ranks_and_1000_barriers_is_explained_in_time_that_grows_as_the_ranks_do(tmp_path):
    _, few = _explained(tmp_path, 8)
    said, many = _explained(tmp_path, 64)
    assert many < 8 * few * 4
    assert said.startswith(
        "Ranks 0-62 are waiting in their 1000th barrier (f.py:9). Rank 63 had called barrier 999 times"
    )
