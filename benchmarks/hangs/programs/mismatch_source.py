"""Each rank takes its own neighbour for the source of the broadcast."""

# run: world_size=3
# outcome: hung
# kind: mismatch
# differ: 0:A 1:A
# says: "(?i)\bsource\b|\bsrc\b"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    weights = torch.zeros(1 << 20)
    source = (dist.get_rank() + 1) % dist.get_world_size()
    dist.broadcast(weights, src=source)  # A
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
