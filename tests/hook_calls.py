"""What the ranks of test_hooks call: one function per kind of call, whose name the spans carry."""

import os
import signal
import subprocess
import threading
import time
import traceback
import weakref
from datetime import timedelta
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

from barrier_lab.recording import hooks
from barrier_lab.recording import recorder as recording


def two(value: float = 0.0) -> list[torch.Tensor]:
    return [torch.full((2,), value) for _ in range(2)]


def call_barrier(rank):
    dist.barrier()


def call_all_reduce(rank):
    tensor = torch.full((2,), float(rank))
    dist.all_reduce(tensor)
    assert tensor.tolist() == [1.0, 1.0]


def call_broadcast(rank):
    tensor = torch.full((1,), float(rank))
    dist.broadcast(tensor, src=1)
    assert tensor.item() == 1.0


def call_reduce(rank):
    dist.reduce(torch.ones(1), dst=0)


def call_all_gather(rank):
    dist.all_gather(two(), torch.ones(2))


def call_all_gather_into_tensor(rank):
    dist.all_gather_into_tensor(torch.zeros(4), torch.ones(2))


def call_reduce_scatter(rank):
    dist.reduce_scatter(torch.zeros(2), two(1.0))


def call_reduce_scatter_tensor(rank):
    dist.reduce_scatter_tensor(torch.zeros(1), torch.ones(2))


def call_gather(rank):
    dist.gather(torch.ones(2), two() if rank == 0 else None, dst=0)


def call_scatter(rank):
    dist.scatter(torch.zeros(2), two(1.0) if rank == 0 else None, src=0)


def call_all_to_all(rank):
    dist.all_to_all(two(), two(1.0))


def call_all_to_all_single(rank):
    dist.all_to_all_single(torch.zeros(2), torch.ones(2))


def call_all_gather_object(rank):
    objects = [None, None]
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": 0}, {"rank": 1}]


def call_broadcast_object_list(rank):
    dist.broadcast_object_list([rank], src=0)


def call_monitored_barrier(rank):
    """A thread must be able to run while the rank is blocked in C++."""
    ticks = []
    over = threading.Event()

    def tick():
        while not over.wait(0.01):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    if rank == 1:
        over.wait(0.3)
    dist.monitored_barrier()
    over.set()
    thread.join()
    assert rank == 1 or len(ticks) > 3


def call_send_recv(rank):
    dist.send(torch.ones(1), dst=1) if rank == 0 else dist.recv(torch.zeros(1))


def call_isend_irecv(rank):
    work = dist.isend(torch.ones(1), dst=1) if rank == 0 else dist.irecv(torch.zeros(1), src=0)
    work.wait()


def call_batch_isend_irecv(rank):
    peer = 1 - rank
    messages = [dist.P2POp(dist.isend, torch.ones(1), peer), dist.P2POp(dist.irecv, torch.zeros(1), peer)]
    for work in dist.batch_isend_irecv(messages):
        work.wait()


def call_functional(rank):
    assert functional.all_reduce(torch.ones(1), "sum", dist.group.WORLD).item() == 2.0


def call_compiled(rank):
    def double(tensor):
        return functional.all_reduce(tensor * 2, "sum", dist.group.WORLD) + 0

    assert torch.compile(double, backend="aot_eager", fullgraph=True)(torch.ones(1)).item() == 4.0


def call_with_handle(rank):
    work = dist.all_reduce(torch.ones(1), async_op=True)
    work.wait()


def call_with_future(rank):
    dist.all_reduce(torch.ones(1), async_op=True).get_future().wait()


def call_probe(rank):
    if rank == 1:
        threading.Event().wait(0.5)
    work = dist.barrier(async_op=True)
    if rank == 0:
        with pytest.raises(RuntimeError, match="Operation timed out"):
            work.wait(timedelta(seconds=0.1))
    assert work.wait()
    assert work.is_completed()


def call_and_forget(rank):
    work = dist.barrier(async_op=True)
    seen = weakref.ref(work)
    del work
    assert seen() is None


def call_sleep(rank):
    time.sleep(0.02)
    subprocess.run(["sleep", "0.05"], check=True, timeout=10)  # Python's own code sleeps here, which is not shown
    with pytest.raises(ValueError):
        time.sleep(-1)
    with pytest.raises(TypeError):
        time.sleep()


def call_sub_group(rank):
    group = dist.new_group([0, 1])
    dist.barrier(group)
    dist.barrier()
    dist.barrier(group)


def ddp_constructor(rank):
    return torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))


def ddp_first_step(rank, model):
    model(torch.ones(1, 2)).sum().backward()


def ddp_second_step(rank, model):
    model(torch.ones(1, 2)).sum().backward()


def ddp_third_step(rank, model):
    model(torch.ones(1, 2)).sum().backward()
    gradients = [torch.zeros_like(model.module.weight.grad) for _ in range(2)]
    dist.all_gather(gradients, model.module.weight.grad)
    assert torch.equal(*gradients)


def call_wrongly(rank):
    """The same mistake with hooks and without: what is raised is the same."""
    raised = []
    for switch in (hooks.stop, hooks.start):
        switch()
        try:
            dist.all_gather([torch.zeros(2), torch.zeros(3)], torch.zeros(2))
        except Exception as error:
            raised.append((type(error), str(error)))
    assert raised[0] == raised[1]


def call_late(rank):
    """Rank 1 does not come: first to an async collective, then to a blocking one, then to a monitored barrier."""
    groups = [dist.new_group([0, 1], timeout=timedelta(seconds=0.3)) for _ in range(3)]
    if rank == 0:
        with pytest.raises(RuntimeError, match="Timed out"):
            dist.all_reduce(torch.ones(1), group=groups[0], async_op=True).wait()
        with pytest.raises(RuntimeError, match="Timed out"):
            dist.barrier(groups[1])
        with pytest.raises(RuntimeError, match="Ranks 1 failed to pass monitoredBarrier"):
            dist.monitored_barrier(groups[2], timeout=timedelta(seconds=0.3), wait_all_ranks=True)
    dist.barrier()


def call_in_new_world(rank):
    dist.barrier()


def call_in_detail(rank):
    dist.barrier()
    dist.all_reduce(torch.ones(1))


def join(rank: int, directory: Path, name: str) -> None:
    store = dist.FileStore(str(directory / name), 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=timedelta(seconds=120))


def begin(rank: int, directory: Path) -> recording.Recorder:
    recorder = recording.open_trace(directory / f"rank{rank}.trace.json", rank)
    assert hooks.install(recorder, __file__)
    join(rank, directory, "store")
    dist.barrier()  # the runner's own, not to be seen
    hooks.start()
    recorder.mark("start", "meta")
    return recorder


def everything(rank: int, directory: Path) -> None:
    recorder = begin(rank, directory)
    for name, call in list(globals().items()):
        if name.startswith("call_") and not name.endswith(("_new_world", "_detail")):
            call(rank)
    model = ddp_constructor(rank)
    for step in (ddp_first_step, ddp_second_step, ddp_third_step):
        step(rank, model)
    del model
    for name, level in (("new_world", dist.DebugLevel.OFF), ("detail", dist.DebugLevel.DETAIL)):
        dist.destroy_process_group()
        dist.set_debug_level(level)
        join(rank, directory, name)
        globals()[f"call_in_{name}"](rank)
    hooks.stop()
    dist.barrier()
    recorder.mark("end", "meta")
    dist.destroy_process_group()


def killed_in_barrier(rank: int, directory: Path) -> None:
    begin(rank, directory)
    if rank == 0:
        (directory / "pid").write_text(str(os.getpid()))
        dist.barrier()
    time.sleep(0.5)
    os.kill(int((directory / "pid").read_text()), signal.SIGKILL)
    dist.barrier()


def leaves_with_operation_in_flight(rank: int, directory: Path) -> None:
    begin(rank, directory)
    if rank == 0:
        dist.barrier(async_op=True)
    else:
        time.sleep(1)


def spawned(rank: int, directory: Path, body) -> None:
    try:
        body(rank, directory)
    except Exception:
        (directory / f"rank{rank}.error").write_text(traceback.format_exc())
        raise
