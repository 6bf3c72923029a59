"""One rank calls a converter that asks a question on its standard input."""

# run: world_size=2
# outcome: hung
# kind: absent-call
# guilty: 0
# lines: 0:CHILD 1:B
import subprocess

import torch.distributed as dist


def convert():
    subprocess.run(["sleep", "1000"], check=True)  # CHILD


def main():
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        convert()
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
