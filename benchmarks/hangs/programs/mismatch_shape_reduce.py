"""One rank has a model with another number of classes."""

# run: world_size=2
# outcome: failed
# kind: mismatch
# differ: 0:A 1:A
# says: "10" "12"
import torch.distributed as dist
from torch import nn


def main():
    dist.init_process_group("gloo")
    classes = 12 if dist.get_rank() == 1 else 10
    model = nn.Linear(64, classes)
    for parameter in model.parameters():
        dist.all_reduce(parameter.data)  # A
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
