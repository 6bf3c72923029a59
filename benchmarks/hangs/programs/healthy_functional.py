"""Functional collectives, on all ranks."""

# run: world_size=2
# outcome: completed
# kind: healthy
# guilty: none
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol


def main():
    dist.init_process_group("gloo")
    for _ in range(3):
        total = funcol.all_reduce(torch.ones(4), "sum", dist.group.WORLD)
        print(total.sum().item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
