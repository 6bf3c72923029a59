"""A logger synchronizes when it is destroyed; one rank still holds it, and goes on to train."""

# run: world_size=2
# outcome: hung
# kind: hidden
# differ: 0:STEP 1:DEL
# lines: 0:STEP 1:DEL
import torch
import torch.distributed as dist


class Logger:
    def __del__(self):
        dist.barrier()  # DEL


def main():
    dist.init_process_group("gloo")
    logger = Logger()
    history = [logger] if dist.get_rank() == 0 else []
    dist.all_reduce(torch.ones(2))
    del logger
    dist.all_reduce(torch.ones(2))  # STEP
    history.clear()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
