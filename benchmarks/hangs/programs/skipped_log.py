"""Hundreds of steps are equal, then one rank leaves out the logging of one of them."""

# run: world_size=3
# outcome: hung
# kind: skipped-call
# differ: 0:LOG 1:STEP
# says: "165th"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for step in range(1, 201):
        dist.all_reduce(torch.ones(1))  # STEP
        if step % 10 == 0 and (rank, step) != (1, 150):
            dist.all_reduce(torch.ones(1))  # LOG
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
