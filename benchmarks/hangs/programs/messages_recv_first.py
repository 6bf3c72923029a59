"""Two ranks exchange: both receive before they send."""

# run: world_size=2
# outcome: hung
# kind: cycle
# guilty: 0 1
# lines: 0:R 1:R
# says: "recv"
import torch
import torch.distributed as dist


def exchange(x, peer):
    other = torch.empty_like(x)
    dist.recv(other, src=peer)  # R
    dist.send(x, dst=peer)
    return other


def main():
    dist.init_process_group("gloo")
    exchange(torch.ones(4), 1 - dist.get_rank())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
