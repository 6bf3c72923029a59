"""The scripts behind the pages "API card" and "DataParallel or DistributedDataParallel"."""

import inspect
import sys

import pytest
import torch.distributed as dist

from barrier_lab import run, run_many

CASES = ["blocking", "async_op", "outside"]


@pytest.fixture(scope="module")
def answers() -> dict[str, list[str]]:
    """What each rank got, by case."""
    runs = run_many([dict(experiment="api", case=case, late=1.0) for case in CASES])
    return {case: [rank.result for rank in found.ranks] for case, found in zip(CASES, runs, strict=True)}


def test_a_blocking_barrier_returns_none(answers):
    assert answers["blocking"] == ["None", "None"]


def test_a_handle_is_complete_after_wait_and_not_before_the_last_rank_has_come(answers):
    assert answers["async_op"][0].endswith("completed: False, after wait: True")


def test_a_rank_outside_the_group_gets_none_and_a_warning(answers):
    assert answers["outside"] == ["None, warnings: []", "None, warnings: ['UserWarning']"]


@pytest.mark.skipif("timeout" not in inspect.signature(dist.barrier).parameters, reason="newer than this torch")
def test_the_time_out_of_a_call_fails_the_waiting_rank_and_the_late_one():
    (found,) = run_many([dict(experiment="api", case="timeout")])
    assert "Timed out waiting 1000ms" in found.ranks[0].result
    assert found.ranks[1].result.startswith("RuntimeError")


@pytest.fixture(scope="module")
def workers():
    """Two workers as threads and as processes; no thread is asked to give up the lock."""
    return run("parallel", start_method="forkserver", rounds=2, switch=60)


def overlaps(found, what: str) -> list[float]:
    """For how long both workers were at work at once, by round."""
    parts = [rank.result[what] for rank in found.ranks if what in rank.result]
    rounds = [[span for part in parts for span in part[n]["spans"]] for n in range(2)]
    return [max(0.0, min(end for _, end in spans) - max(begin for begin, _ in spans)) for spans in rounds]


@pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="this Python has no interpreter lock")
def test_threads_in_pure_python_work_one_after_the_other(workers):
    assert max(overlaps(workers, "Python, threads")) == 0


@pytest.mark.parametrize("what", ["Python, processes", "tensors, threads", "tensors, processes"])
def test_processes_and_tensor_operations_work_at_the_same_time(workers, what: str):
    assert max(overlaps(workers, what)) > 0
