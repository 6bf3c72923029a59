"""Rank 0 validates alone, and the metric sums over all ranks."""

# run: world_size=3
# outcome: hung
# kind: skipped-call
# differ: 0:SUM 1:TRAIN
import torch
import torch.distributed as dist


def accuracy():
    correct = torch.tensor([7.0, 10.0])
    dist.all_reduce(correct)  # SUM
    return correct[0] / correct[1]


def main():
    dist.init_process_group("gloo")
    for _ in range(2):
        for _ in range(3):
            dist.all_reduce(torch.ones(2))  # TRAIN
        if dist.get_rank() == 0:
            print("accuracy", accuracy())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
