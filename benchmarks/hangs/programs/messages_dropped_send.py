"""The handle of a send is dropped, which takes the message back: the receiver waits for it in vain."""

# run: world_size=2
# outcome: hung
# kind: message
# guilty: 1
# lines: 1:R 0:B
# says: "from rank 0"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    x = torch.ones(4)
    for _ in range(2):
        if dist.get_rank() == 0:
            dist.isend(x, dst=1)
        else:
            dist.recv(x, src=0)  # R
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
