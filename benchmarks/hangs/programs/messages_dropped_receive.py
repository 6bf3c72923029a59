"""The handle of a receive is dropped, and the message goes with it: the next receive waits in vain."""

# run: world_size=2
# outcome: hung
# kind: message
# guilty: 1
# lines: 1:R 0:B
# says: "from rank 0"
import torch
import torch.distributed as dist


def prefetch():
    dist.irecv(torch.empty(4), src=0)


def main():
    dist.init_process_group("gloo")
    x = torch.ones(4)
    if dist.get_rank() == 0:
        dist.send(x, dst=1)
    else:
        prefetch()
        dist.recv(x, src=0)  # R
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
