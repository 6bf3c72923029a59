"""A thread that averages metrics shares the group with the training: the calls interleave differently."""

# run: world_size=2
# outcome: hung
# kind: thread
# differ: 0:METRICS 1:TRAIN
# lines: 0:METRICS 1:METRICS
import threading
import time

import torch
import torch.distributed as dist


def average_metrics(delay):
    time.sleep(delay)
    values = [torch.empty(1) for _ in range(2)]
    dist.all_gather(values, torch.ones(1))  # METRICS


def main():
    dist.init_process_group("gloo")
    delay = 0.0 if dist.get_rank() == 0 else 2.0
    thread = threading.Thread(target=average_metrics, args=(delay,), name="metrics")
    thread.start()
    time.sleep(1.0)  # the forward pass
    dist.all_reduce(torch.ones(1))  # TRAIN
    thread.join()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
