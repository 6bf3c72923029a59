"""A functional collective that one rank leaves out."""

# run: world_size=2
# outcome: hung
# kind: skipped-call
# differ: 0:NORM 1:B
# lines: 1:B
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol


def norm(gradient):
    total = funcol.all_reduce(gradient.square().sum(), "sum", dist.group.WORLD)  # NORM
    return total.sqrt().item()


def main():
    dist.init_process_group("gloo")
    for step in range(3):
        if (dist.get_rank(), step) != (1, 2):
            print("norm", norm(torch.ones(4)))
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
