"""One rank's download fails twice and is tried again."""

# run: world_size=3
# outcome: completed
# kind: slow
# guilty: none
import time

import torch.distributed as dist


def download(rank, attempt):
    if rank == 1 and attempt < 2:
        raise ConnectionResetError("connection reset by the mirror")
    return b"data"


def main():
    dist.init_process_group("gloo")
    for attempt in range(3):
        try:
            download(dist.get_rank(), attempt)
            break
        except ConnectionResetError:
            time.sleep(0.5)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
