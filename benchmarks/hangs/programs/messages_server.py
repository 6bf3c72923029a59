"""Rank 0 serves requests from anybody in a loop, and never learns that the clients are done."""

# run: world_size=3
# outcome: hung
# kind: message
# guilty: 0
# lines: 0:SERVE 1:B 2:B
# says: "recv"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    request = torch.ones(1)
    if dist.get_rank() == 0:
        while True:
            dist.recv(request)  # SERVE
    dist.send(request, dst=0)
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
