"""One rank trains in double precision, and nobody tells the collective."""

# run: world_size=2
# outcome: failed
# kind: mismatch
# differ: 0:A 1:A
# says: "float32" "float64"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    dtype = torch.float64 if dist.get_rank() == 1 else torch.float32
    gradient = torch.ones(64, dtype=dtype)
    dist.all_reduce(gradient)  # A
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
