"""A branch of the model is used on one rank only, and the wrapper is not told to look for unused parameters."""

# run: world_size=2
# outcome: hung
# kind: hidden
# differ: 0:BACK 1:B
# lines: 0:BACK 1:B
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Routed(nn.Module):
    def __init__(self):
        super().__init__()
        self.text, self.image = nn.Linear(4, 1), nn.Linear(4, 1)

    def forward(self, x, has_image):
        return self.text(x) + self.image(x) if has_image else self.text(x)


def main():
    dist.init_process_group("gloo")
    model = DDP(Routed())
    model(torch.ones(2, 4), has_image=dist.get_rank() == 0).sum().backward()  # BACK
    dist.barrier()  # B
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
