"""A pipeline of three stages with non-blocking sends."""

# run: world_size=3
# outcome: completed
# kind: healthy
# guilty: none
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank, sent = dist.get_rank(), []
    for i in range(4):
        x = torch.full((8,), float(i))
        if rank > 0:
            dist.recv(x, src=rank - 1, tag=i)
        if rank < 2:
            sent.append(dist.isend(x, dst=rank + 1, tag=i))
    for request in sent:
        request.wait()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
