"""The last batch is smaller on one rank, and its predictions are gathered as if it were not."""

# run: world_size=2
# outcome: failed
# kind: mismatch
# differ: 0:A 1:A
# says: "4.{1,3}3" "2.{1,3}3"
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    predictions = torch.rand(4 - 2 * rank, 3)
    everybody = [torch.empty_like(predictions) for _ in range(2)]
    dist.all_gather(everybody, predictions)  # A
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
