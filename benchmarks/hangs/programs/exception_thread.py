"""The thread that loads data dies of an error; its rank waits for the queue, the others for the rank."""

# run: world_size=2
# outcome: hung
# kind: exception
# guilty: 1
# lines: 1:GET 0:A
# says: "OSError: shard 3 is not readable"
import queue
import threading

import torch
import torch.distributed as dist


def load(rank, batches):
    for shard in range(6):
        if (rank, shard) == (1, 3):
            raise OSError(f"shard {shard} is not readable")
        batches.put(torch.ones(2))


def main():
    dist.init_process_group("gloo")
    batches = queue.Queue(maxsize=2)
    threading.Thread(target=load, args=(dist.get_rank(), batches), daemon=True).start()
    for _ in range(6):
        batch = batches.get()  # GET
        dist.all_reduce(batch)  # A
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
