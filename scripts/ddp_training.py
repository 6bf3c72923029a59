"""Does training by DistributedDataParallel need a barrier?

No.  It gives all ranks the weights of rank 0, and then the same averaged
gradients in every step, so the weights stay equal.
"""

import torch
import torch._dynamo  # DDP needs it; it takes seconds to load
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from barrier_lab import main
from first_barrier import make_group


def make_data() -> TensorDataset:
    """1,000 samples of 10 values; the sign of their sum is the class."""
    seed = torch.Generator().manual_seed(0)
    values = torch.randn(1000, 10, generator=seed)
    return TensorDataset(values, (values.sum(1) > 0).long())


def weights(model: torch.nn.Module) -> list[float]:
    return torch.cat([p.flatten() for p in model.parameters()]).tolist()


def train(
    device: torch.device,
    epochs: int,
    ddp: bool,
    barrier: bool,
    folder: str,
) -> dict[str, list]:
    model = torch.nn.Linear(10, 2).to(device)
    seen = [weights(model)]
    if ddp:
        gpu = [device.index] if device.type == "cuda" else None
        model = DistributedDataParallel(model, device_ids=gpu)
    seen.append(weights(model))
    sampler = DistributedSampler(make_data())
    loader = DataLoader(sampler.dataset, batch_size=32, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for values, classes in loader:
            if barrier:
                dist.barrier()
            output = model(values.to(device))
            loss = cross_entropy(output, classes.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        seen.append(weights(model))
        print(f"epoch {epoch}: the last loss is {losses[-1]:.4f}")
        if folder and dist.get_rank() == 0:
            state = (model.module if ddp else model).state_dict()
            torch.save(state, f"{folder}/epoch{epoch}.pt")
    return {"losses": losses, "weights": seen}


def worker(
    rank: int,
    world_size: int,
    *,
    epochs: int = 3,
    ddp: bool = True,
    barrier: bool = False,
    folder: str = "",  # for the checkpoints
) -> dict[str, list]:
    device = make_group()
    torch.manual_seed(rank)  # other weights on each rank
    result = train(device, epochs, ddp, barrier, folder)
    dist.destroy_process_group()
    return result


if __name__ == "__main__":
    main(worker, init=False)
