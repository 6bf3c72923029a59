"""A background thread saves with collectives on the group that the main thread uses."""

# run: world_size=2
# outcome: hung
# kind: thread
# differ: 0:PLAN 1:STEP
# lines: 1:STEP
import threading
import time

import torch
import torch.distributed as dist


def save(rank):
    time.sleep(2.0 * rank)  # collects its part of the state
    plans = [None] * dist.get_world_size()
    dist.all_gather_object(plans, f"part {rank}")  # PLAN


def main():
    dist.init_process_group("gloo")
    saver = threading.Thread(target=save, args=(dist.get_rank(),), name="saver")
    saver.start()
    time.sleep(1.0)
    dist.barrier()  # STEP
    saver.join()
    dist.all_reduce(torch.ones(1))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
