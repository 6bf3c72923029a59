"""A saver in a thread, with a group of its own, beside the training."""

# run: world_size=2
# outcome: completed
# kind: healthy
# guilty: none
# not: "differ"
import threading
import time

import torch
import torch.distributed as dist


def save(rank, group):
    time.sleep(0.3 * rank)
    dist.all_reduce(torch.ones(1), group=group)


def main():
    dist.init_process_group("gloo")
    group = dist.new_group()
    for _ in range(2):
        saver = threading.Thread(target=save, args=(dist.get_rank(), group))
        saver.start()
        for _ in range(5):
            dist.all_reduce(torch.ones(4))
        saver.join()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
