"""Objects of different sizes, gathered and broadcast."""

# run: world_size=2
# outcome: completed
# kind: healthy
# guilty: none
# not: "differ"
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    metrics = [None, None]
    dist.all_gather_object(metrics, {"rank": rank, "lines": ["x"] * 100 * rank})
    config = [{"lr": 0.1}] if rank == 0 else [None]
    dist.broadcast_object_list(config, src=0)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
