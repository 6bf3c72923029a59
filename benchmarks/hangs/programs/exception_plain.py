"""A bad sample raises on one rank; the others are in the next collective."""

# run: world_size=2
# outcome: failed
# kind: exception
# guilty: 1
# lines: 1:CAUSE
# says: "ValueError: label 12 is out of range"
import torch
import torch.distributed as dist


def check(label):
    if label > 9:
        raise ValueError(f"label {label} is out of range")  # CAUSE


def main():
    dist.init_process_group("gloo")
    for step in range(5):
        check(12 if (dist.get_rank(), step) == (1, 3) else step)
        dist.all_reduce(torch.ones(2))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
