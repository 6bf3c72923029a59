"""A thread that averages metrics shares the group with the training: their calls interleave differently by rank."""

# run:
# outcome: hung
# kind: thread
# differ: 0:METRICS 1:TRAIN
# lines: 0:METRICS 1:METRICS
import threading

import torch
import torch.distributed as dist


def metrics(turn, other):
    turn.wait()
    other.set()
    dist.all_gather([torch.empty(1) for _ in range(dist.get_world_size())], torch.ones(1))  # METRICS


def worker(rank, world_size):
    turn, other = threading.Event(), threading.Event()
    thread = threading.Thread(target=metrics, args=(turn, other), name="metrics")
    thread.start()
    if rank == 0:  # here the thread is first
        turn.set()
        other.wait()
        threading.Event().wait(1.0)
    else:  # and here a second later than the main thread
        threading.Timer(1.0, turn.set).start()
    dist.all_reduce(torch.ones(1))  # TRAIN
    thread.join()
