"""Several operations in flight, waited for in another order on each rank."""

# run: world_size=2
# outcome: completed
# kind: healthy
# guilty: none
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    buckets = [torch.ones(16) for _ in range(4)]
    handles = [dist.all_reduce(bucket, async_op=True) for bucket in buckets]
    for handle in handles if dist.get_rank() == 0 else reversed(handles):
        handle.wait()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
