"""Only rank 0 wraps its model: the constructor is collective."""

# run: world_size=3
# outcome: hung
# kind: hidden
# differ: 0:WRAP 1:B
# lines: 0:WRAP 1:B 2:B
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("gloo")
    model = nn.Linear(8, 2)
    if dist.get_rank() == 0:
        model = DDP(model)  # WRAP
        print(model)
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
