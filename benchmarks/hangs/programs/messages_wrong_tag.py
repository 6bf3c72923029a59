"""The sender numbers its micro-batches from 0, the receiver from 1."""

# run: world_size=2
# outcome: hung
# kind: message
# guilty: 0 1
# lines: 0:S 1:R
# says: "tag 1" "tag 0|without a tag|to rank 1"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    for i in range(2):
        x = torch.ones(1 << 16)
        if dist.get_rank() == 0:
            dist.send(x, dst=1, tag=i)  # S
        else:
            dist.recv(x, src=0, tag=i + 1)  # R
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
