"""An operation is started on rank 0 only, and its handle dropped; the next collective meets the wrong call."""

# run: world_size=2
# outcome: hung
# kind: mismatch
# differ: 0:START 1:B
# lines: 0:B 1:B
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    seen = torch.ones(1)
    if dist.get_rank() == 0:
        dist.all_reduce(seen, async_op=True)  # START
    dist.barrier()  # B
    print("seen", seen.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
