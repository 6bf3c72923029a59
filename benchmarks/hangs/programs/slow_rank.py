"""One rank compiles its kernels for three seconds, and comes."""

# run: world_size=3
# outcome: completed
# kind: slow
# guilty: none
# lines: 2:B
import time

import torch.distributed as dist


def compile_kernels():
    time.sleep(3.0)


def main():
    dist.init_process_group("gloo")
    dist.barrier()
    if dist.get_rank() == 2:
        compile_kernels()
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
