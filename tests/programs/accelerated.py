"""A training under Accelerate; with the argument "hangs", rank 1 does not come to the backward pass of step 3."""

import sys
import time

import torch
from accelerate import Accelerator


def main():
    accelerator = Accelerator(cpu=True)
    model = torch.nn.Linear(4, 1)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
    for step in range(6):
        if step == 3 and accelerator.process_index == 1 and sys.argv[1:] == ["hangs"]:
            time.sleep(1000)  # AWAY
        accelerator.backward(model(torch.randn(8, 4)).mean())  # W
        optimizer.step()
        optimizer.zero_grad()
    accelerator.wait_for_everyone()
    accelerator.print("trained", *sys.argv[1:])


if __name__ == "__main__":
    main()
