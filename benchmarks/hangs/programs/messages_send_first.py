"""Two ranks send a large tensor before they receive: neither send can end."""

# run: world_size=2
# outcome: hung
# kind: cycle
# guilty: 0 1
# lines: 0:S 1:S
# says: "recv"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    peer = 1 - dist.get_rank()
    mine, other = torch.ones(1 << 20), torch.empty(1 << 20)
    dist.send(mine, dst=peer)  # S
    dist.recv(other, src=peer)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
