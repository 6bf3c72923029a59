"""A pipeline with an error in its arithmetic: the message goes to the next but one stage."""

# run: world_size=3
# outcome: hung
# kind: message
# guilty: 1
# lines: 1:R 0:B 2:B
# says: "from rank 0"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    x = torch.ones(4)
    if rank == 0:
        dist.isend(x, dst=rank + 2)
    elif rank == 1:
        dist.recv(x, src=rank - 1)  # R
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
